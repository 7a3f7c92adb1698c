/**
 * An everyday food with its nutrition figures per 100 grams and one common portion.
 *
 * @since 1.0.0
 * @category models
 */
export interface Food {
  readonly id: string
  readonly name: string
  readonly category: string
  /** The occasions and diets that the food suits, such as "breakfast" or "low fat". */
  readonly tags: ReadonlyArray<string>
  readonly alternateNames: ReadonlyArray<string>
  /** Kilocalories and grams in 100 grams of the food. */
  readonly per100g: {
    readonly energyKcal: number
    readonly proteinG: number
    readonly carbohydrateG: number
    readonly sugarG: number
    readonly fatG: number
    readonly fiberG: number
  }
  /** A usual portion and its weight in grams. */
  readonly portion: { readonly name: string; readonly grams: number }
}

/** Lists are separated by commas; figures are kcal, protein, carbohydrate, sugar, fat and fiber per 100 g. */
type Row = readonly [
  name: string,
  figures: readonly [number, number, number, number, number, number],
  portion: string,
  grams: number,
  tags?: string,
  alternateNames?: string
]

const list = (text: string): ReadonlyArray<string> => text === "" ? [] : text.split(",")

const nutritionTags = (per100g: Food["per100g"]): ReadonlyArray<string> => [
  ...(per100g.sugarG <= 5 ? ["low sugar"] : []),
  ...(per100g.proteinG >= 15 ? ["high protein"] : []),
  ...(per100g.fiberG >= 6 ? ["high fiber"] : []),
  ...(per100g.fatG <= 3 ? ["low fat"] : [])
]

const group = (category: string, shared: string, rows: ReadonlyArray<Row>): ReadonlyArray<Food> =>
  rows.map(([name, figures, portion, grams, tags = "", alternateNames = ""]) => {
    const [energyKcal, proteinG, carbohydrateG, sugarG, fatG, fiberG] = figures
    const per100g = { energyKcal, proteinG, carbohydrateG, sugarG, fatG, fiberG }
    return {
      id: name.toLowerCase().replace(/[^a-z0-9]+/g, "-"),
      name,
      category,
      tags: [...list(tags), ...list(shared), ...nutritionTags(per100g)],
      alternateNames: list(alternateNames),
      per100g,
      portion: { name: portion, grams }
    }
  })

/** Everyday foods with typical figures, in the range of public food tables such as USDA FoodData Central. */
export const foods: ReadonlyArray<Food> = [
  ...group("Fruit", "vegan", [
    ["Apple", [52, 0.3, 13.8, 10.4, 0.2, 2.4], "1 medium", 182, "snack"],
    ["Banana", [89, 1.1, 22.8, 12.2, 0.3, 2.6], "1 medium", 118, "snack,breakfast"],
    ["Orange", [47, 0.9, 11.8, 9.4, 0.1, 2.4], "1 medium", 131, "snack,citrus"],
    ["Pear", [57, 0.4, 15.2, 9.8, 0.1, 3.1], "1 medium", 178, "snack"],
    ["Grapes", [69, 0.7, 18.1, 15.5, 0.2, 0.9], "1 cup", 151, "snack"],
    ["Strawberries", [32, 0.7, 7.7, 4.9, 0.3, 2], "1 cup, halves", 152, "snack,berry"],
    ["Blueberries", [57, 0.7, 14.5, 10, 0.3, 2.4], "1 cup", 148, "snack,breakfast,berry"],
    ["Pineapple", [50, 0.5, 13.1, 9.9, 0.1, 1.4], "1 cup, chunks", 165, "snack", "ananas"],
    ["Avocado", [160, 2, 8.5, 0.7, 14.7, 6.7], "1/2 fruit", 100, "breakfast", "alligator pear,avocado pear"],
    ["Raisins", [299, 3.1, 79.2, 59.2, 0.5, 3.7], "1 small box", 43, "snack,dried fruit", "sultanas"]
  ]),
  ...group("Vegetables", "vegan", [
    ["Broccoli", [34, 2.8, 6.6, 1.7, 0.4, 2.6], "1 cup, chopped", 91, "", "calabrese"],
    ["Carrot", [41, 0.9, 9.6, 4.7, 0.2, 2.8], "1 medium", 61, "snack"],
    ["Spinach", [23, 2.9, 3.6, 0.4, 0.4, 2.2], "1 cup", 30, "salad"],
    ["Tomato", [18, 0.9, 3.9, 2.6, 0.2, 1.2], "1 medium", 123, "salad,snack"],
    ["Cucumber", [15, 0.7, 3.6, 1.7, 0.1, 0.5], "1/2 cup, slices", 52, "salad,snack"],
    ["Eggplant", [25, 1, 5.9, 3.5, 0.2, 3], "1 cup, cubes", 82, "", "aubergine,brinjal"],
    ["Onion", [40, 1.1, 9.3, 4.2, 0.1, 1.7], "1 medium", 110],
    ["Green peas", [81, 5.4, 14.5, 5.7, 0.4, 5.7], "1 cup", 145, "", "garden peas"],
    ["Sweet corn", [86, 3.3, 18.7, 6.3, 1.4, 2], "1 medium ear", 90, "", "maize,corn on the cob"],
    ["Potato, boiled", [87, 1.9, 20.1, 0.9, 0.1, 1.8], "1 medium", 136, "dinner"],
    ["Mushrooms, white", [22, 3.1, 3.3, 2, 0.3, 1], "1 cup, sliced", 70, "", "button mushrooms,champignons"]
  ]),
  ...group("Dairy", "", [
    ["Milk, whole", [61, 3.2, 4.8, 4.8, 3.3, 0], "1 cup", 244, "breakfast,vegetarian", "full-fat milk,full cream milk"],
    ["Milk, skim", [34, 3.4, 5, 5, 0.1, 0], "1 cup", 245, "breakfast,vegetarian", "skimmed milk,nonfat milk"],
    ["Yogurt, plain", [61, 3.5, 4.7, 4.7, 3.3, 0], "1 cup", 245, "breakfast,snack", "yoghurt,natural yoghurt,curd"],
    ["Greek yogurt, plain", [97, 9, 4, 3.9, 5, 0], "1 container", 170, "breakfast,snack", "Greek yoghurt"],
    ["Cottage cheese", [98, 11.1, 3.4, 2.7, 4.3, 0], "1/2 cup", 113, "breakfast,snack", "curd cheese"],
    ["Cheddar", [403, 22.9, 3.4, 0.5, 33.3, 0], "1 slice", 28, "cheese,snack"]
  ]),
  ...group("Breakfast cereals", "breakfast", [
    ["Oats, rolled", [379, 13.2, 67.7, 1, 6.5, 10.1], "1/2 cup, dry", 40, "vegan", "porridge oats,oat flakes"],
    ["Oatmeal, cooked with water", [71, 2.5, 12, 0.3, 1.5, 1.7], "1 cup", 234, "vegan", "porridge,cooked oats"],
    ["Muesli", [340, 9.7, 77.8, 31.2, 4.9, 7.3], "1/2 cup", 43, "", "Birchermuesli"]
  ]),
  ...group("Grains", "", [
    ["White rice, cooked", [130, 2.7, 28.2, 0.1, 0.3, 0.4], "1 cup", 158, "dinner,vegan"],
    ["Brown rice, cooked", [123, 2.7, 25.6, 0.2, 1, 1.6], "1 cup", 202, "dinner,vegan,whole grain", "wholegrain rice"],
    ["Quinoa, cooked", [120, 4.4, 21.3, 0.9, 1.9, 2.8], "1 cup", 185, "dinner,vegan"],
    ["Pasta, cooked", [158, 5.8, 30.9, 0.6, 0.9, 1.8], "1 cup", 140, "dinner", "spaghetti,macaroni"]
  ]),
  ...group("Bread", "", [
    ["White bread", [266, 8.9, 49.4, 5.7, 3.3, 2.7], "1 slice", 29, "breakfast", "toast"],
    ["Whole wheat bread", [252, 12.5, 42.7, 4.3, 3.5, 6], "1 slice", 32, "breakfast", "wholemeal bread,brown bread"],
    ["Rye bread", [259, 8.5, 48.3, 3.9, 3.3, 5.8], "1 slice", 32, "breakfast"]
  ]),
  ...group("Legumes", "vegan", [
    ["Chickpeas, cooked", [164, 8.9, 27.4, 4.8, 2.6, 7.6], "1 cup", 164, "dinner", "garbanzo beans,chana"],
    ["Lentils, cooked", [116, 9, 20.1, 1.8, 0.4, 7.9], "1 cup", 198, "dinner", "dal,dhal"],
    ["Kidney beans, cooked", [127, 8.7, 22.8, 0.3, 0.5, 6.4], "1 cup", 177, "dinner", "red beans,rajma"],
    ["Tofu, firm", [144, 17.3, 2.8, 0.6, 8.7, 2.3], "1/2 cup", 126, "dinner", "bean curd"],
    ["Hummus", [237, 7.8, 15, 0.6, 17.8, 5.5], "2 tablespoons", 30, "snack", "houmous,chickpea dip"]
  ]),
  ...group("Nuts and seeds", "vegan", [
    ["Almonds", [579, 21.2, 21.6, 4.4, 49.9, 12.5], "1 oz", 28, "snack"],
    ["Walnuts", [654, 15.2, 13.7, 2.6, 65.2, 6.7], "1 oz", 28, "snack"],
    ["Peanut butter", [588, 25.1, 19.6, 9.2, 50.4, 6], "2 tablespoons", 32, "breakfast,spread"],
    ["Chia seeds", [486, 16.5, 42.1, 0, 30.7, 34.4], "1 oz", 28, "breakfast"]
  ]),
  ...group("Meat", "", [
    ["Chicken breast, roasted", [165, 31, 0, 0, 3.6, 0], "1/2 breast", 86, "dinner,poultry"],
    ["Ground beef, cooked", [250, 25.9, 0, 0, 15.4, 0], "3 oz", 85, "dinner", "minced beef,beef mince"],
    ["Ham, sliced", [163, 16.6, 3.8, 0, 8.6, 1.3], "1 slice", 28, "lunch"]
  ]),
  ...group("Fish", "", [
    ["Salmon, cooked", [206, 22.1, 0, 0, 12.4, 0], "3 oz", 85, "dinner"],
    ["Tuna, canned in water", [116, 25.5, 0, 0, 0.8, 0], "3 oz", 85, "lunch", "tinned tuna"],
    ["Shrimp, cooked", [99, 24, 0.2, 0, 0.3, 0], "3 oz", 85, "dinner,seafood", "prawns"]
  ]),
  ...group("Eggs", "vegetarian", [
    ["Egg, boiled", [155, 12.6, 1.1, 1.1, 10.6, 0], "1 large", 50, "breakfast,snack", "hard-boiled egg"]
  ]),
  ...group("Fats and oils", "", [
    ["Butter", [717, 0.9, 0.1, 0.1, 81.1, 0], "1 tablespoon", 14, "breakfast,vegetarian"],
    ["Olive oil", [884, 0, 0, 0, 100, 0], "1 tablespoon", 13.5, "vegan,salad"]
  ]),
  ...group("Sweets", "", [
    ["Honey", [304, 0.3, 82.4, 82.1, 0, 0.2], "1 tablespoon", 21, "breakfast"],
    ["Dark chocolate", [598, 7.8, 45.9, 24, 42.6, 10.9], "1 oz", 28, "snack,dessert", "plain chocolate"],
    ["Apple pie", [237, 1.9, 34, 15.7, 11, 1.6], "1 slice", 117, "dessert"]
  ]),
  ...group("Drinks", "", [
    ["Coffee, black", [1, 0.1, 0, 0, 0, 0], "1 cup", 237, "breakfast,vegan", "filter coffee"],
    ["Apple juice", [46, 0.1, 11.3, 9.6, 0.1, 0.2], "1 cup", 248]
  ])
]

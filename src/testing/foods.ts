/**
 * The foods that the simulator finds where no others are given.
 *
 * @since 1.0.0
 */

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
  /** What the food is eaten for or suits, such as "breakfast" or "low fat". */
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
  /** A usual portion, and what it weighs in grams. */
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

const identifier = (name: string): string => name.toLowerCase().replace(/[^a-z0-9]+/g, "-")

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
    const uses = [...list(tags), ...list(shared)]
    return {
      id: identifier(name),
      name,
      category,
      tags: [...uses, ...(uses.includes("vegan") ? ["vegetarian"] : []), ...nutritionTags(per100g)],
      alternateNames: list(alternateNames),
      per100g,
      portion: { name: portion, grams }
    }
  })

/**
 * Everyday foods with typical figures, in the range of public food tables such as USDA FoodData Central.
 *
 * @since 1.0.0
 * @category fixtures
 */
export const foods: ReadonlyArray<Food> = [
  ...group("Fruit", "vegan", [
    ["Apple", [52, 0.3, 13.8, 10.4, 0.2, 2.4], "1 medium", 182, "snack"],
    ["Banana", [89, 1.1, 22.8, 12.2, 0.3, 2.6], "1 medium", 118, "snack,breakfast"],
    ["Orange", [47, 0.9, 11.8, 9.4, 0.1, 2.4], "1 medium", 131, "snack,citrus"],
    ["Mandarin", [53, 0.8, 13.3, 10.6, 0.3, 1.8], "1 medium", 88, "snack,citrus", "tangerine,satsuma"],
    ["Lemon", [29, 1.1, 9.3, 2.5, 0.3, 2.8], "1 medium", 58, "citrus"],
    ["Grapefruit", [42, 0.8, 10.7, 6.9, 0.1, 1.6], "1/2 fruit", 123, "breakfast,citrus"],
    ["Pear", [57, 0.4, 15.2, 9.8, 0.1, 3.1], "1 medium", 178, "snack"],
    ["Peach", [39, 0.9, 9.5, 8.4, 0.3, 1.5], "1 medium", 150, "snack"],
    ["Plum", [46, 0.7, 11.4, 9.9, 0.3, 1.4], "1 fruit", 66, "snack"],
    ["Apricot", [48, 1.4, 11.1, 9.2, 0.4, 2], "1 fruit", 35, "snack"],
    ["Cherries, sweet", [63, 1.1, 16, 12.8, 0.2, 2.1], "1 cup", 138, "snack"],
    ["Grapes", [69, 0.7, 18.1, 15.5, 0.2, 0.9], "1 cup", 151, "snack"],
    ["Strawberries", [32, 0.7, 7.7, 4.9, 0.3, 2], "1 cup, halves", 152, "snack,berry"],
    ["Blueberries", [57, 0.7, 14.5, 10, 0.3, 2.4], "1 cup", 148, "snack,breakfast,berry"],
    ["Raspberries", [52, 1.2, 11.9, 4.4, 0.7, 6.5], "1 cup", 123, "snack,berry"],
    ["Blackberries", [43, 1.4, 9.6, 4.9, 0.5, 5.3], "1 cup", 144, "snack,berry", "brambles"],
    ["Cranberries", [46, 0.5, 12, 4.3, 0.1, 3.6], "1 cup", 100, "berry"],
    ["Kiwi", [61, 1.1, 14.7, 9, 0.5, 3], "1 fruit", 69, "snack", "kiwifruit,Chinese gooseberry"],
    ["Mango", [60, 0.8, 15, 13.7, 0.4, 1.6], "1 cup, pieces", 165, "snack"],
    ["Pineapple", [50, 0.5, 13.1, 9.9, 0.1, 1.4], "1 cup, chunks", 165, "snack", "ananas"],
    ["Papaya", [43, 0.5, 10.8, 7.8, 0.3, 1.7], "1 cup, pieces", 145, "snack", "pawpaw"],
    ["Watermelon", [30, 0.6, 7.6, 6.2, 0.2, 0.4], "1 cup, diced", 152, "snack"],
    ["Cantaloupe", [34, 0.8, 8.2, 7.9, 0.2, 0.9], "1 cup, cubes", 156, "snack", "rockmelon,muskmelon"],
    ["Pomegranate", [83, 1.7, 18.7, 13.7, 1.2, 4], "1/2 cup, seeds", 87, "snack"],
    ["Fig", [74, 0.8, 19.2, 16.3, 0.3, 2.9], "1 medium", 50, "snack"],
    ["Avocado", [160, 2, 8.5, 0.7, 14.7, 6.7], "1/2 fruit", 100, "breakfast", "alligator pear,avocado pear"],
    ["Olives, black", [116, 0.8, 6, 0, 10.9, 1.6], "10 olives", 32, "snack"],
    ["Raisins", [299, 3.1, 79.2, 59.2, 0.5, 3.7], "1 small box", 43, "snack,dried fruit", "sultanas"],
    ["Dates", [277, 1.8, 75, 66.5, 0.2, 6.7], "1 date", 24, "snack,dried fruit", "medjool"],
    ["Prunes", [240, 2.2, 63.9, 38.1, 0.4, 7.1], "5 prunes", 48, "snack,dried fruit", "dried plums"],
    ["Dried apricots", [241, 3.4, 62.6, 53.4, 0.5, 7.3], "10 halves", 35, "snack,dried fruit"]
  ]),
  ...group("Vegetables", "vegan", [
    ["Broccoli", [34, 2.8, 6.6, 1.7, 0.4, 2.6], "1 cup, chopped", 91, "", "calabrese"],
    ["Cauliflower", [25, 1.9, 5, 1.9, 0.3, 2], "1 cup, chopped", 107],
    ["Carrot", [41, 0.9, 9.6, 4.7, 0.2, 2.8], "1 medium", 61, "snack"],
    ["Spinach", [23, 2.9, 3.6, 0.4, 0.4, 2.2], "1 cup", 30, "salad"],
    ["Kale", [35, 2.9, 4.4, 1, 1.5, 4.1], "1 cup", 21, "salad", "borecole"],
    ["Romaine lettuce", [17, 1.2, 3.3, 1.2, 0.3, 2.1], "1 cup, shredded", 47, "salad", "cos lettuce"],
    ["Arugula", [25, 2.6, 3.7, 2.1, 0.7, 1.6], "1 cup", 20, "salad", "rocket,rucola"],
    ["Cabbage", [25, 1.3, 5.8, 3.2, 0.1, 2.5], "1 cup, chopped", 89],
    ["Brussels sprouts", [43, 3.4, 9, 2.2, 0.3, 3.8], "1 cup", 88],
    ["Bok choy", [13, 1.5, 2.2, 1.2, 0.2, 1], "1 cup, shredded", 70, "", "pak choi,Chinese cabbage"],
    ["Swiss chard", [19, 1.8, 3.7, 1.1, 0.2, 1.6], "1 cup", 36, "", "silverbeet,mangold"],
    ["Sauerkraut", [19, 0.9, 4.3, 1.8, 0.1, 2.9], "1 cup", 142, "fermented", "pickled cabbage"],
    ["Tomato", [18, 0.9, 3.9, 2.6, 0.2, 1.2], "1 medium", 123, "salad,snack"],
    ["Cucumber", [15, 0.7, 3.6, 1.7, 0.1, 0.5], "1/2 cup, slices", 52, "salad,snack"],
    ["Bell pepper, red", [31, 1, 6, 4.2, 0.3, 2.1], "1 medium", 119, "snack", "capsicum,sweet pepper,paprika"],
    ["Eggplant", [25, 1, 5.9, 3.5, 0.2, 3], "1 cup, cubes", 82, "", "aubergine,brinjal"],
    ["Zucchini", [17, 1.2, 3.1, 2.5, 0.3, 1], "1 medium", 196, "", "courgette,summer squash"],
    ["Onion", [40, 1.1, 9.3, 4.2, 0.1, 1.7], "1 medium", 110],
    ["Garlic", [149, 6.4, 33.1, 1, 0.5, 2.1], "1 clove", 3],
    ["Leek", [61, 1.5, 14.2, 3.9, 0.3, 1.8], "1 leek", 89],
    ["Scallion", [32, 1.8, 7.3, 2.3, 0.2, 2.6], "1 medium", 15, "salad", "spring onion,green onion"],
    ["Celery", [14, 0.7, 3, 1.3, 0.2, 1.6], "1 medium stalk", 40, "snack"],
    ["Fennel", [31, 1.2, 7.3, 3.9, 0.2, 3.1], "1 cup, sliced", 87, "salad", "finocchio"],
    ["Asparagus", [20, 2.2, 3.9, 1.9, 0.1, 2.1], "1 cup", 134],
    ["Artichoke, boiled", [53, 2.9, 12, 1, 0.3, 5.7], "1 medium", 120, "", "globe artichoke"],
    ["Okra", [33, 1.9, 7.5, 1.5, 0.2, 3.2], "1 cup", 100, "", "lady's fingers,bhindi"],
    ["Green beans", [31, 1.8, 7, 3.3, 0.2, 2.7], "1 cup", 100, "", "French beans,string beans"],
    ["Green peas", [81, 5.4, 14.5, 5.7, 0.4, 5.7], "1 cup", 145, "", "garden peas"],
    ["Sweet corn", [86, 3.3, 18.7, 6.3, 1.4, 2], "1 medium ear", 90, "", "maize,corn on the cob"],
    ["Beet", [43, 1.6, 9.6, 6.8, 0.2, 2.8], "1 beet", 82, "salad", "beetroot"],
    ["Radish", [16, 0.7, 3.4, 1.9, 0.1, 1.6], "1 cup, slices", 116, "salad"],
    ["Turnip", [28, 0.9, 6.4, 3.8, 0.1, 1.8], "1 medium", 122],
    ["Rutabaga", [37, 1.1, 8.6, 4.5, 0.2, 2.3], "1 cup, cubes", 140, "", "swede,neep"],
    ["Parsnip", [75, 1.2, 18, 4.8, 0.3, 4.9], "1 cup, slices", 133],
    ["Pumpkin", [26, 1, 6.5, 2.8, 0.1, 0.5], "1 cup, cubes", 116],
    ["Butternut squash", [45, 1, 11.7, 2.2, 0.1, 2], "1 cup, cubes", 140, "", "butternut pumpkin"],
    ["Potato, boiled", [87, 1.9, 20.1, 0.9, 0.1, 1.8], "1 medium", 136, "dinner"],
    ["Sweet potato, baked", [90, 2, 20.7, 6.5, 0.2, 3.3], "1 medium", 114, "dinner", "kumara"],
    ["Mushrooms, white", [22, 3.1, 3.3, 2, 0.3, 1], "1 cup, sliced", 70, "", "button mushrooms,champignons"]
  ]),
  ...group("Dairy", "", [
    ["Milk, whole", [61, 3.2, 4.8, 4.8, 3.3, 0], "1 cup", 244, "breakfast,vegetarian", "full-fat milk,full cream milk"],
    [
      "Milk, 2% fat",
      [50, 3.3, 4.8, 4.8, 2, 0],
      "1 cup",
      244,
      "breakfast,vegetarian",
      "semi-skimmed milk,reduced-fat milk"
    ],
    ["Milk, skim", [34, 3.4, 5, 5, 0.1, 0], "1 cup", 245, "breakfast,vegetarian", "skimmed milk,nonfat milk"],
    ["Yogurt, plain", [61, 3.5, 4.7, 4.7, 3.3, 0], "1 cup", 245, "breakfast,snack", "yoghurt,natural yoghurt,curd"],
    [
      "Greek yogurt, plain",
      [97, 9, 4, 3.9, 5, 0],
      "1 container",
      170,
      "breakfast,snack",
      "Greek yoghurt,strained yoghurt"
    ],
    [
      "Greek yogurt, nonfat",
      [59, 10.2, 3.6, 3.2, 0.4, 0],
      "1 container",
      170,
      "breakfast,snack",
      "Greek yoghurt,fat-free yoghurt"
    ],
    ["Yogurt, fruit, low fat", [102, 4.4, 19.1, 19.1, 1.1, 0], "1 container", 170, "breakfast,snack", "fruit yoghurt"],
    ["Kefir, low fat", [43, 3.8, 4.8, 4.6, 0.9, 0], "1 cup", 243, "breakfast,fermented"],
    ["Cottage cheese", [98, 11.1, 3.4, 2.7, 4.3, 0], "1/2 cup", 113, "breakfast,snack", "curd cheese"],
    ["Ricotta", [174, 11.3, 3, 0.3, 13, 0], "1/2 cup", 124, "cheese"],
    ["Cheddar", [403, 22.9, 3.4, 0.5, 33.3, 0], "1 slice", 28, "cheese,snack"],
    ["Mozzarella", [299, 22.2, 2.4, 1, 22.1, 0], "1 oz", 28, "cheese"],
    ["Parmesan", [392, 35.8, 3.2, 0.8, 25.8, 0], "1 oz", 28, "cheese", "Parmigiano"],
    ["Feta", [264, 14.2, 4.1, 4.1, 21.3, 0], "1 oz", 28, "cheese,salad"],
    ["Brie", [334, 20.8, 0.5, 0.5, 27.7, 0], "1 oz", 28, "cheese"],
    ["Swiss cheese", [393, 27, 1.4, 0, 31, 0], "1 slice", 28, "snack", "Emmental,Emmentaler"],
    ["Cream cheese", [350, 6.2, 5.5, 3.8, 34.4, 0], "1 tablespoon", 15, "breakfast", "soft cheese"],
    ["Sour cream", [198, 2.4, 4.6, 3.4, 19.4, 0], "1 tablespoon", 12, "", "soured cream"],
    ["Heavy cream", [340, 2.8, 2.7, 2.7, 36, 0], "1 tablespoon", 15, "vegetarian", "whipping cream"],
    ["Ice cream, vanilla", [207, 3.5, 23.6, 21.2, 11, 0.7], "1/2 cup", 66, "dessert"]
  ]),
  ...group("Breakfast cereals", "breakfast", [
    ["Oats, rolled", [379, 13.2, 67.7, 1, 6.5, 10.1], "1/2 cup, dry", 40, "vegan", "porridge oats,oat flakes"],
    ["Oatmeal, cooked with water", [71, 2.5, 12, 0.3, 1.5, 1.7], "1 cup", 234, "vegan", "porridge,cooked oats"],
    ["Muesli", [340, 9.7, 77.8, 31.2, 4.9, 7.3], "1/2 cup", 43, "", "Birchermuesli"],
    ["Granola", [489, 13.7, 53.9, 19.8, 24.3, 8.9], "1/2 cup", 61, "", "crunchy muesli"],
    ["Corn flakes", [357, 7.5, 84.1, 9.5, 0.4, 3.3], "1 cup", 28, "", "cornflakes"]
  ]),
  ...group("Grains", "", [
    ["White rice, cooked", [130, 2.7, 28.2, 0.1, 0.3, 0.4], "1 cup", 158, "dinner,vegan"],
    ["Brown rice, cooked", [123, 2.7, 25.6, 0.2, 1, 1.6], "1 cup", 202, "dinner,vegan,whole grain", "wholegrain rice"],
    ["Quinoa, cooked", [120, 4.4, 21.3, 0.9, 1.9, 2.8], "1 cup", 185, "dinner,vegan"],
    ["Couscous, cooked", [112, 3.8, 23.2, 0.1, 0.2, 1.4], "1 cup", 157, "dinner,vegan"],
    ["Bulgur, cooked", [83, 3.1, 18.6, 0.1, 0.2, 4.5], "1 cup", 182, "dinner,vegan", "bulgur wheat,bulghur,burghul"],
    ["Pearl barley, cooked", [123, 2.3, 28.2, 0.3, 0.4, 3.8], "1 cup", 157, "vegan"],
    ["Buckwheat, cooked", [92, 3.4, 19.9, 0.9, 0.6, 2.7], "1 cup", 168, "vegan", "kasha"],
    ["Millet, cooked", [119, 3.5, 23.7, 0.1, 1, 1.3], "1 cup", 174, "vegan"],
    ["Pasta, cooked", [158, 5.8, 30.9, 0.6, 0.9, 1.8], "1 cup", 140, "dinner", "spaghetti,macaroni"],
    ["Whole wheat pasta, cooked", [149, 6, 30.1, 0.8, 1.7, 3.9], "1 cup", 117, "dinner,whole grain", "wholemeal pasta"],
    ["Egg noodles, cooked", [138, 4.5, 25.2, 0.4, 2.1, 1.2], "1 cup", 160, "dinner"],
    ["Rice noodles, cooked", [108, 1.8, 24, 0, 0.2, 1], "1 cup", 176, "dinner,vegan", "rice vermicelli"],
    [
      "Wheat flour, white",
      [364, 10.3, 76.3, 0.3, 1, 2.7],
      "1 cup",
      125,
      "baking,vegan",
      "all-purpose flour,plain flour"
    ],
    ["Popcorn, air-popped", [387, 12.9, 77.8, 0.9, 4.5, 14.5], "1 cup", 8, "snack,vegan,whole grain"]
  ]),
  ...group("Bread", "", [
    ["White bread", [266, 8.9, 49.4, 5.7, 3.3, 2.7], "1 slice", 29, "breakfast", "toast"],
    ["Whole wheat bread", [252, 12.5, 42.7, 4.3, 3.5, 6], "1 slice", 32, "breakfast", "wholemeal bread,brown bread"],
    ["Rye bread", [259, 8.5, 48.3, 3.9, 3.3, 5.8], "1 slice", 32, "breakfast"],
    ["Sourdough bread", [272, 10.8, 51.9, 4.6, 2.4, 2.2], "1 slice", 64, "breakfast", "French bread,baguette"],
    ["Pita, white", [275, 9.1, 55.7, 1.3, 1.2, 2.2], "1 large", 60, "lunch", "pitta bread"],
    ["Bagel", [275, 10.5, 53.4, 5.1, 1.6, 2.3], "1 medium", 105, "breakfast"],
    ["English muffin", [227, 8.9, 44.2, 3.5, 1.7, 3.5], "1 muffin", 57, "breakfast"],
    ["Croissant", [406, 8.2, 45.8, 11.3, 21, 2.6], "1 medium", 57, "breakfast,pastry"],
    ["Corn tortilla", [218, 5.7, 44.6, 0.9, 2.9, 6.3], "1 tortilla", 26, "vegan"],
    ["Rye crispbread", [366, 7.9, 82.2, 1.1, 1.3, 16.5], "1 piece", 10, "breakfast,snack", "knäckebröd"],
    ["Rice cakes", [387, 8.2, 81.5, 0.9, 2.8, 4.2], "1 cake", 9, "snack,vegan"]
  ]),
  ...group("Legumes", "vegan", [
    ["Chickpeas, cooked", [164, 8.9, 27.4, 4.8, 2.6, 7.6], "1 cup", 164, "dinner", "garbanzo beans,chana"],
    ["Lentils, cooked", [116, 9, 20.1, 1.8, 0.4, 7.9], "1 cup", 198, "dinner", "dal,dhal"],
    ["Black beans, cooked", [132, 8.9, 23.7, 0.3, 0.5, 8.7], "1 cup", 172, "dinner", "turtle beans"],
    ["Kidney beans, cooked", [127, 8.7, 22.8, 0.3, 0.5, 6.4], "1 cup", 177, "dinner", "red beans,rajma"],
    ["Navy beans, cooked", [140, 8.2, 26.1, 0.4, 0.6, 10.5], "1 cup", 182, "dinner", "haricot beans,white beans"],
    ["Pinto beans, cooked", [143, 9, 26.2, 0.3, 0.7, 9], "1 cup", 171, "dinner"],
    ["Fava beans, cooked", [110, 7.6, 19.7, 1.8, 0.4, 5.4], "1 cup", 170, "dinner", "broad beans"],
    ["Split peas, cooked", [118, 8.3, 21.1, 2.9, 0.4, 8.3], "1 cup", 196, "dinner"],
    ["Edamame", [121, 11.9, 8.9, 2.2, 5.2, 5.2], "1 cup", 155, "snack", "green soybeans"],
    ["Tofu, firm", [144, 17.3, 2.8, 0.6, 8.7, 2.3], "1/2 cup", 126, "dinner", "bean curd"],
    ["Hummus", [237, 7.8, 15, 0.6, 17.8, 5.5], "2 tablespoons", 30, "snack", "houmous,chickpea dip"],
    ["Soy milk, unsweetened", [33, 2.9, 1.7, 0.4, 1.6, 0.5], "1 cup", 243, "breakfast", "soya milk,soya drink"]
  ]),
  ...group("Nuts and seeds", "vegan", [
    ["Almonds", [579, 21.2, 21.6, 4.4, 49.9, 12.5], "1 oz", 28, "snack"],
    ["Walnuts", [654, 15.2, 13.7, 2.6, 65.2, 6.7], "1 oz", 28, "snack"],
    ["Cashews", [553, 18.2, 30.2, 5.9, 43.9, 3.3], "1 oz", 28, "snack"],
    ["Pistachios", [560, 20.2, 27.2, 7.7, 45.3, 10.6], "1 oz", 28, "snack"],
    ["Hazelnuts", [628, 15, 16.7, 4.3, 60.8, 9.7], "1 oz", 28, "snack", "filberts,cobnuts"],
    ["Pecans", [691, 9.2, 13.9, 4, 72, 9.6], "1 oz", 28, "snack"],
    ["Brazil nuts", [659, 14.3, 11.7, 2.3, 67.1, 7.5], "1 oz", 28, "snack"],
    ["Macadamia nuts", [718, 7.9, 13.8, 4.6, 75.8, 8.6], "1 oz", 28, "snack"],
    ["Pine nuts", [673, 13.7, 13.1, 3.6, 68.4, 3.7], "1 oz", 28, "", "pine kernels"],
    ["Peanuts", [567, 25.8, 16.1, 4.7, 49.2, 8.5], "1 oz", 28, "snack", "groundnuts,monkey nuts"],
    ["Peanut butter", [588, 25.1, 19.6, 9.2, 50.4, 6], "2 tablespoons", 32, "breakfast,spread"],
    ["Sunflower seeds", [584, 20.8, 20, 2.6, 51.5, 8.6], "1 oz", 28, "snack"],
    ["Pumpkin seeds", [559, 30.2, 10.7, 1.4, 49.1, 6], "1 oz", 28, "snack", "pepitas"],
    ["Chia seeds", [486, 16.5, 42.1, 0, 30.7, 34.4], "1 oz", 28, "breakfast"],
    ["Flaxseed", [534, 18.3, 28.9, 1.6, 42.2, 27.3], "1 tablespoon", 10, "breakfast", "linseed"],
    ["Sesame seeds", [573, 17.7, 23.5, 0.3, 49.7, 11.8], "1 tablespoon", 9],
    ["Tahini", [595, 17, 21.2, 0.5, 53.8, 9.3], "1 tablespoon", 15, "spread", "sesame paste,tahina"],
    ["Coconut, raw", [354, 3.3, 15.2, 6.2, 33.5, 9], "1 piece", 45, "snack"]
  ]),
  ...group("Meat", "", [
    ["Chicken breast, roasted", [165, 31, 0, 0, 3.6, 0], "1/2 breast", 86, "dinner,poultry"],
    ["Chicken thigh, roasted", [209, 25.9, 0, 0, 10.9, 0], "1 thigh", 52, "dinner,poultry"],
    ["Turkey breast, roasted", [147, 30.1, 0, 0, 2.1, 0], "3 oz", 85, "dinner,poultry"],
    ["Duck, roasted", [201, 23.5, 0, 0, 11.2, 0], "3 oz", 85, "dinner,poultry"],
    ["Ground beef, cooked", [250, 25.9, 0, 0, 15.4, 0], "3 oz", 85, "dinner", "minced beef,beef mince"],
    ["Beef steak, sirloin", [243, 27, 0, 0, 14.2, 0], "3 oz", 85, "dinner", "rump steak"],
    ["Beef liver, fried", [175, 26.5, 5.2, 0, 4.7, 0], "1 slice", 81, "dinner"],
    ["Pork loin, broiled", [242, 27.3, 0, 0, 13.9, 0], "3 oz", 85, "dinner", "grilled pork chop"],
    ["Pork sausage, cooked", [325, 18.5, 1.4, 1.1, 27.3, 0], "1 link", 23, "breakfast", "banger"],
    ["Bacon, cooked", [541, 37, 1.4, 0, 41.8, 0], "1 slice", 8, "breakfast", "rashers"],
    ["Ham, sliced", [163, 16.6, 3.8, 0, 8.6, 1.3], "1 slice", 28, "lunch"],
    ["Salami", [425, 21.7, 1.2, 1.2, 37, 0], "1 oz", 28, "lunch,snack"],
    ["Lamb leg, roasted", [258, 25.6, 0, 0, 16.5, 0], "3 oz", 85, "dinner", "gigot"]
  ]),
  ...group("Fish", "", [
    ["Salmon, cooked", [206, 22.1, 0, 0, 12.4, 0], "3 oz", 85, "dinner"],
    ["Smoked salmon", [117, 18.3, 0, 0, 4.3, 0], "1 oz", 28, "breakfast", "lox"],
    ["Tuna, canned in water", [116, 25.5, 0, 0, 0.8, 0], "3 oz", 85, "lunch", "tinned tuna"],
    ["Cod, cooked", [105, 22.8, 0, 0, 0.9, 0], "3 oz", 85, "dinner"],
    ["Trout, cooked", [168, 23.8, 0, 0, 7.4, 0], "1 fillet", 71, "dinner"],
    ["Mackerel, cooked", [262, 23.9, 0, 0, 17.8, 0], "1 fillet", 88, "dinner"],
    ["Sardines, canned in oil", [208, 24.6, 0, 0, 11.5, 0], "1 can", 92, "lunch", "tinned sardines,pilchards"],
    ["Herring, pickled", [262, 14.2, 9.6, 7.7, 18, 0], "1 piece", 20, "", "rollmop"],
    ["Shrimp, cooked", [99, 24, 0.2, 0, 0.3, 0], "3 oz", 85, "dinner,seafood", "prawns"],
    ["Mussels, cooked", [172, 23.8, 7.4, 0, 4.5, 0], "3 oz", 85, "dinner,seafood"],
    ["King crab, cooked", [97, 19.4, 0, 0, 1.5, 0], "3 oz", 85, "dinner,seafood"]
  ]),
  ...group("Eggs", "vegetarian", [
    ["Egg, boiled", [155, 12.6, 1.1, 1.1, 10.6, 0], "1 large", 50, "breakfast,snack", "hard-boiled egg"],
    ["Scrambled eggs", [149, 10, 1.6, 1.4, 11, 0], "1 large egg", 61, "breakfast"],
    ["Omelet", [154, 10.6, 0.6, 0.3, 11.7, 0], "1 large egg", 61, "breakfast", "omelette"],
    ["Egg white", [52, 10.9, 0.7, 0.7, 0.2, 0], "1 large", 33, "breakfast"]
  ]),
  ...group("Fats and oils", "", [
    ["Butter", [717, 0.9, 0.1, 0.1, 81.1, 0], "1 tablespoon", 14, "breakfast,vegetarian"],
    ["Ghee", [876, 0.3, 0, 0, 99.5, 0], "1 tablespoon", 13, "vegetarian", "clarified butter"],
    ["Margarine", [717, 0.2, 0.7, 0, 80.7, 0], "1 tablespoon", 14, "spread"],
    ["Olive oil", [884, 0, 0, 0, 100, 0], "1 tablespoon", 13.5, "vegan,salad"],
    ["Canola oil", [884, 0, 0, 0, 100, 0], "1 tablespoon", 14, "vegan", "rapeseed oil"],
    ["Coconut oil", [892, 0, 0, 0, 99.1, 0], "1 tablespoon", 13.6, "vegan"],
    ["Mayonnaise", [680, 1, 0.6, 0.6, 74.9, 0], "1 tablespoon", 13.8, "sauce", "mayo"]
  ]),
  ...group("Sweets", "", [
    ["Sugar, white", [387, 0, 100, 99.8, 0, 0], "1 teaspoon", 4, "baking", "table sugar,sucrose"],
    ["Honey", [304, 0.3, 82.4, 82.1, 0, 0.2], "1 tablespoon", 21, "breakfast"],
    ["Maple syrup", [260, 0, 67, 60.5, 0.1, 0], "1 tablespoon", 20, "breakfast,vegan"],
    ["Jam", [278, 0.4, 68.9, 48.5, 0.1, 1.1], "1 tablespoon", 20, "breakfast", "preserves,jelly"],
    ["Dark chocolate", [598, 7.8, 45.9, 24, 42.6, 10.9], "1 oz", 28, "snack,dessert", "plain chocolate"],
    ["Milk chocolate", [535, 7.7, 59.4, 51.5, 29.7, 3.4], "1 bar", 44, "snack,dessert"],
    ["Marshmallows", [318, 1.8, 81.3, 57.6, 0.2, 0.1], "1 piece", 7, "snack"],
    ["Apple pie", [237, 1.9, 34, 15.7, 11, 1.6], "1 slice", 117, "dessert"]
  ]),
  ...group("Drinks", "", [
    ["Water", [0, 0, 0, 0, 0, 0], "1 glass", 240, "vegan"],
    ["Coffee, black", [1, 0.1, 0, 0, 0, 0], "1 cup", 237, "breakfast,vegan", "filter coffee"],
    ["Tea, black", [1, 0, 0.3, 0, 0, 0], "1 cup", 237, "breakfast,vegan"],
    ["Hot chocolate", [77, 3.5, 10.7, 9.7, 2.3, 1], "1 cup", 250, "", "hot cocoa"],
    ["Orange juice", [45, 0.7, 10.4, 8.4, 0.2, 0.2], "1 cup", 248, "breakfast", "OJ"],
    ["Apple juice", [46, 0.1, 11.3, 9.6, 0.1, 0.2], "1 cup", 248],
    ["Tomato juice", [17, 0.9, 3.5, 2.6, 0.3, 0.4], "1 cup", 243],
    ["Coconut water", [19, 0.7, 3.7, 2.6, 0.2, 1.1], "1 cup", 240, "vegan"],
    ["Cola", [42, 0, 10.4, 10, 0.3, 0], "1 can", 368, "", "coke,fizzy drink,soda"],
    ["Beer", [43, 0.5, 3.6, 0, 0, 0], "1 can", 356, "alcohol", "lager,ale"],
    ["Red wine", [85, 0.1, 2.6, 0.6, 0, 0], "1 glass", 147, "alcohol"],
    ["White wine", [82, 0.1, 2.6, 1, 0, 0], "1 glass", 147, "alcohol"]
  ]),
  ...group("Dishes and sauces", "", [
    ["Cheese pizza", [266, 11.4, 33.3, 3.6, 9.7, 2.3], "1 slice", 107, "dinner", "pizza Margherita"],
    ["French fries", [312, 3.4, 41.4, 0.3, 14.7, 3.8], "1 medium serving", 117, "fast food", "chips,fries"],
    ["Potato chips", [536, 7, 52.9, 0.2, 34.6, 4.8], "1 oz", 28, "snack", "crisps,potato crisps"],
    ["Mashed potatoes", [113, 1.9, 16.9, 1.4, 4.2, 1.5], "1 cup", 210, "dinner", "potato purée"],
    ["Baked beans, canned", [94, 4.8, 21.1, 7.8, 0.4, 4.1], "1 cup", 254, "breakfast", "beans in tomato sauce"],
    ["Tomato soup", [32, 0.7, 7.5, 4.1, 0.3, 0.6], "1 cup", 244, "lunch"],
    ["Chicken noodle soup", [25, 1.3, 2.9, 0.3, 1, 0.4], "1 cup", 241, "lunch"],
    ["Salsa", [29, 1.5, 6.6, 4, 0.2, 1.9], "2 tablespoons", 36, "dip,vegan"],
    ["Tomato ketchup", [101, 1, 27.4, 21.3, 0.1, 0.3], "1 tablespoon", 17, "sauce", "catsup"],
    ["Mustard", [60, 3.7, 5.8, 0.9, 3.3, 4], "1 teaspoon", 5, "sauce"],
    ["Soy sauce", [53, 8.1, 4.9, 0.4, 0.6, 0.8], "1 tablespoon", 16, "sauce,vegan", "soya sauce,shoyu"]
  ])
]

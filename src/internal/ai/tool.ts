/** What a model is told of the one tool. */
export const tool = {
  name: "search_foods" as const,
  title: "Search foods",
  description:
    "Searches foods by meaning, at the Nutrition Advisor service. Use it for every question about foods, their " +
    "nutrients, calories or portions, and to find foods for a need, such as \"low sugar breakfast\". Returns JSON: the foods " +
    "that match, best match first. Where there are too many, a field `note` says how many are shown; a narrower term then helps.",
  term: "A food, a dish, a brand or a need, in plain words; not blank. One term for each search."
}

export const maxResultBytes = 32 * 1024

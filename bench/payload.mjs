/** The response to every search, 2 KB of JSON, and the check that a client has parsed it. */
const foods = Array.from({ length: 16 }, (_, index) => ({
  id: `food-${1000 + index}`,
  name: `Greek yogurt with honey ${index}`,
  energy: { kcal: 97 + index, kj: 406 + index },
  protein: 9.1
}))

const withPadding = (note) => JSON.stringify({ total: foods.length, note, results: foods })

export const payload = withPadding("n".repeat(2048 - withPadding("").length))

export const isPayload = (value) => Array.isArray(value?.results) && value.results.length === foods.length

const terms = ["low sugar breakfast", "greek yogurt", "oats", "crème fraîche", "rye bread & butter", "apple"]

export const term = (index) => terms[index % terms.length]

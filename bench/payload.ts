/** The answer to every search: 2 KB of JSON, and how a client shows that it has read it. */
const foods = Array.from({ length: 16 }, (_, index) => ({
  id: `food-${1000 + index}`,
  name: `Greek yogurt with honey ${index}`,
  energy: { kcal: 97 + index, kj: 406 + index },
  protein: 9.1
}))

const size = 2048

const withPadding = (note: string) => JSON.stringify({ total: foods.length, note, results: foods })

export const payload = Buffer.from(withPadding("n".repeat(size - withPadding("").length)))

export const isPayload = (answer: unknown): boolean =>
  typeof answer === "object" && answer !== null && "results" in answer && Array.isArray(answer.results) &&
  answer.results.length === foods.length

const terms = [
  "low sugar breakfast",
  "greek yogurt",
  "oats",
  "crème fraîche",
  "rye bread & butter",
  "apple",
  "lentil soup",
  "cottage cheese 20 %"
]

export const term = (index: number): string => terms[index % terms.length] ?? "oats"

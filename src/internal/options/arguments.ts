/** The command lines of the programs. */
import { parseArgs, type ParseArgsConfig } from "node:util"
import * as Either from "effect/Either"

type Options = NonNullable<ParseArgsConfig["options"]>

/** Whether a value is valid, and what is valid. */
type ValueRule = readonly [holds: (value: string) => boolean, what: string]

/** A rule for each argument that takes a value. */
type Rules<O extends Options> = { readonly [N in keyof O as O[N]["type"] extends "string" ? N : never]: ValueRule }

type Values<O extends Options> = ReturnType<typeof parseArgs<{ args: Array<string>; options: O }>>["values"]

/** Returns the values of the arguments, or a message that says what is wrong. It never repeats a value, which may be a secret. */
export const parseArguments = <const O extends Options>(
  given: ReadonlyArray<string>,
  options: O,
  rules: Rules<O>
): Either.Either<Values<O>, string> => {
  const args = [...given]
  const known: Readonly<Record<string, ValueRule | undefined>> = rules
  const { tokens } = parseArgs({ args, options, strict: false, allowPositionals: true, tokens: true })
  for (const token of tokens) {
    if (token.kind !== "option") return Either.left("Each argument must begin with --. Run with --help to list them.")
    const { inlineValue, name, rawName, value } = token
    if (!Object.hasOwn(options, name)) {
      return Either.left(`There is no argument ${rawName}. Run with --help to list them.`)
    }
    const rule = known[name]
    if (rule === undefined) {
      if (value !== undefined) return Either.left(`${rawName} takes no value.`)
      continue
    }
    const [holds, what] = rule
    const isNextArgument = inlineValue === false && /^-./.test(value)
    if (value === undefined || isNextArgument || !holds(value)) return Either.left(`${rawName} must be ${what}.`)
  }
  return Either.right(parseArgs({ args, options }).values)
}

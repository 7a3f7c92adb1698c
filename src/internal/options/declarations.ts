import * as Either from "effect/Either"
import { check, type Checked } from "./check.js"
import type { ReaderOf } from "./variables.js"

/** Everything that the library knows about one option, except its type and its JSDoc, which are in the interface of the options. */
interface Declaration<Value, Options> {
  /** Whether the options are rejected without this one. */
  readonly isRequired?: true
  /** The value if the option is missing. Without a default, it stays undefined. */
  readonly default?: Value
  /** Checks and converts a value. `options` are all options that were passed with it. */
  readonly parse: (value: Value, field: string, options: Options) => Checked<unknown>
  /** How its environment variable is read. Without this, it has none. */
  readonly variable?: ReaderOf<Value>
}

/** What the type of the options says about a field. `baseUrl: string | URL` must be given, so its declaration needs `isRequired: true`. */
type Presence<Options, Name extends keyof Options> = Options extends Required<Pick<Options, Name>>
  ? { readonly isRequired: true }
  : { readonly isRequired?: never }

/** The declaration of every option of an interface. The compiler reports missing ones. */
export type Declarations<Options> = {
  readonly [Name in keyof Options]-?:
    & Declaration<Exclude<Options[Name], undefined>, Options>
    & Presence<Options, Name>
}

/** The type of a parsed option: for durations, `number` if the option is required or has a default, otherwise `number | undefined`. */
type ParsedBy<D> = D extends { readonly parse: (...args: infer _) => Checked<infer Parsed> }
  ? D extends { readonly isRequired: true } | { readonly default: unknown } ? Parsed : Parsed | undefined
  : never

export type Parsed<Table> = { readonly [Name in keyof Table]: ParsedBy<Table[Name]> }

/** Rejects the first option that isn't declared, because it may be misspelled. */
export const rejectUnknown = (options: object, declarations: object, prefix = ""): Checked<void> => {
  const unknown = Object.keys(options).find((name) => !Object.hasOwn(declarations, name))
  return check(`${prefix}${unknown}`, [unknown === undefined, "is not an option: check its spelling"])
}

/**
 * Adds the defaults, and checks and converts the declared options. Fails with the first problem. Ignores all other options that are `known`,
 * and rejects the rest.
 */
export const parse = <Options extends object, Table extends Partial<Declarations<Options>>>(
  declarations: Table,
  options: Options,
  { known = declarations, prefix = "" }: { readonly known?: object; readonly prefix?: string } = {}
): Checked<Parsed<Table>> =>
  Either.gen(function*() {
    yield* rejectUnknown(options, known, prefix)
    const table = declarations as Readonly<Record<string, Declaration<unknown, Options>>>
    const given = options as Readonly<Record<string, unknown>>
    const parsed: Record<string, unknown> = {}
    for (const [name, declaration] of Object.entries(table)) {
      const field = prefix + name
      const value = given[name] ?? declaration.default
      parsed[name] = yield* value === undefined
        ? check(field, [!declaration.isRequired, "is not set"])
        : declaration.parse(value, field, options)
    }
    return parsed as Parsed<Table>
  })

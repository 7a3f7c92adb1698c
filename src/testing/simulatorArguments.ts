/** What the simulator's program is told on its command line. */
import { parseArgs } from "node:util"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"

/** What `--help` prints. */
export const usage = `Usage: effect-nutrition-advisor-simulator [options]

Serves the Nutrition Advisor service, simulated, until it is stopped.

  --port <number>             the port, 8787 by default; 0 takes a free one
  --host <address>            the address to listen on, 127.0.0.1 by default
  --license-key <key>         the one key that exchanges; a demo key by default
  --token-lifetime <seconds>  the expires_in of its tokens, 86155.482 by default
  --customer-id <id>          the customer_id of its tokens; a UUID by default
  --allowed-host <name>       a name of this machine under which its page may be opened; may be repeated
  --help                      prints this

GET /simulator/ is a page that shows its calls live.
It can be controlled: GET /simulator/counters, and under /simulator POST revoke, POST recover,
POST provoke/{operation}/{fault}?times=1, POST token-lifetime?seconds=30 and POST latency/{operation}?millis=200.`

/** Why the simulator's program can't do what it is told, in one sentence. */
export class CannotServe extends Data.TaggedError("CannotServe")<{ readonly message: string }> {}

/** The arguments of the simulator's program, with the defaults of its address. */
export interface SimulatorArguments {
  /** Whether to print the usage and end. */
  readonly help: boolean
  /** The address to listen on. */
  readonly host: string
  /** From 0 to 65535; 0 takes a free one. */
  readonly port: number
  /** The one key that exchanges; the simulator's own where it is missing. */
  readonly licenseKey: string | undefined
  /** Seconds; the simulator's own where it is missing. */
  readonly tokenLifetime: number | undefined
  /** The simulator's own where it is missing. */
  readonly customerId: string | undefined
  /** Names of this machine, beside loopback and the address to listen on. */
  readonly allowedHosts: ReadonlyArray<string>
}

const parsed = (args: ReadonlyArray<string>) =>
  Effect.try({
    try: () =>
      parseArgs({
        args: [...args],
        options: {
          "allowed-host": { type: "string", multiple: true, default: [] },
          "customer-id": { type: "string" },
          help: { type: "boolean", default: false },
          host: { type: "string", default: "127.0.0.1" },
          "license-key": { type: "string" },
          port: { type: "string", default: "8787" },
          "token-lifetime": { type: "string" }
        }
      }).values,
    catch: () => new CannotServe({ message: "The arguments can't be read; --help lists them." })
  })

const requireThat = (condition: boolean, message: string) => condition ? Effect.void : new CannotServe({ message })

/** The arguments of the simulator's program, read and checked; fails with {@link CannotServe} where one can't be used. */
export const simulatorArguments = (args: ReadonlyArray<string>): Effect.Effect<SimulatorArguments, CannotServe> =>
  Effect.gen(function*() {
    const values = yield* parsed(args)
    const port = Number(values.port)
    const lifetime = values["token-lifetime"]
    const tokenLifetime = lifetime === undefined ? undefined : Number(lifetime)
    const customerId = values["customer-id"]
    const licenseKey = values["license-key"]
    const allowedHosts = values["allowed-host"]
    yield* requireThat(/^\d{1,5}$/.test(values.port) && port < 65_536, "--port takes a whole number from 0 to 65535.")
    yield* requireThat(values.host.trim() !== "", "--host takes an address of this machine, such as 127.0.0.1.")
    yield* requireThat(
      tokenLifetime === undefined || (/^\d{1,9}(\.\d+)?$/.test(lifetime ?? "") && tokenLifetime > 0),
      "--token-lifetime takes a number of seconds above 0, such as 3600."
    )
    yield* requireThat(
      licenseKey === undefined || licenseKey.trim() !== "",
      "--license-key takes a key that is not blank."
    )
    yield* requireThat(
      customerId === undefined || /^[\x21-\x7e]+$/.test(customerId),
      "--customer-id takes visible ASCII characters, as they go into a header."
    )
    yield* requireThat(
      allowedHosts.every((name) => /^[\w.-]+$/.test(name)),
      "--allowed-host takes a name without a port, such as myhost."
    )
    return { allowedHosts, help: values.help, host: values.host, port, licenseKey, tokenLifetime, customerId }
  })

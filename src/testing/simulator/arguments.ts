/** The command line of the simulator. */
import * as Either from "effect/Either"
import { parseArguments } from "../../internal/options/arguments.js"
import { controlRoutes } from "./controlRoutes.js"

export const usage = `Usage: effect-nutrition-advisor-simulator [options]

Serves a simulated Nutrition Advisor API until it is stopped.

  --port <number>             the port, 8787 by default; 0 picks a free one
  --host <address>            the address to listen on, 127.0.0.1 by default
  --license-key <key>         the license key that it accepts; a demo key by default
  --token-lifetime <seconds>  the expires_in of its tokens, 86155.482 by default
  --customer-id <id>          the customer_id of its tokens; a UUID by default
  --allowed-host <name>       a name of this machine under which the page can be opened; can be repeated
  --help                      prints this help

GET /simulator/ is a page that shows the calls live.
To control it from a test:

${controlRoutes.map((route) => `  ${route}`).join("\n")}`

const isNotBlank = (text: string) => text.trim() !== ""

const options = {
  "allowed-host": { type: "string", multiple: true },
  "customer-id": { type: "string" },
  help: { type: "boolean", default: false },
  host: { type: "string", default: "127.0.0.1" },
  "license-key": { type: "string" },
  port: { type: "string", default: "8787" },
  "token-lifetime": { type: "string" }
} as const

export const settingsOf = (args: ReadonlyArray<string>) =>
  Either.map(
    parseArguments(args, options, {
      port: [(text) => /^\d{1,5}$/.test(text) && Number(text) < 65_536, "a whole number from 0 to 65535"],
      host: [isNotBlank, "an address of this machine, such as 127.0.0.1"],
      "license-key": [isNotBlank, "a key that is not blank"],
      "token-lifetime": [
        (text) => /^\d{1,9}(\.\d+)?$/.test(text) && Number(text) > 0,
        "a number of seconds above 0, such as 3600"
      ],
      "customer-id": [(text) => /^[\x21-\x7e]+$/.test(text), "visible ASCII characters, as they go into a header"],
      "allowed-host": [(text) => /^[\w.-]+$/.test(text), "a name without a port, such as myhost"]
    }),
    ({ "allowed-host": allowedHosts = [], "token-lifetime": lifetime, ...values }) => ({
      allowedHosts,
      customerId: values["customer-id"],
      help: values.help,
      host: values.host,
      licenseKey: values["license-key"],
      port: Number(values.port),
      /** In seconds. */
      tokenLifetime: lifetime === undefined ? undefined : Number(lifetime)
    })
  )

export type Settings = Either.Either.Right<ReturnType<typeof settingsOf>>

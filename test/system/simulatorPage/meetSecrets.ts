/** A simulator on a port whose secrets are the markers, and calls that repeat each of them wherever a call can. */
import { Effect } from "effect"
import * as WatchedSimulator from "../../support/doubles/WatchedSimulator.js"
import * as Secrets from "../../support/leaks/secrets.js"

const { searchPath, tokenPath } = WatchedSimulator

export const options = { licenseKeys: [Secrets.key], customerId: Secrets.customerId }

const inUrls = Secrets.forms.filter(({ name }) => /^percent|^form/.test(name))

const markers = [Secrets.key, Secrets.token, Secrets.customerId]

/** The marker token is one that the simulator was told to issue, and that its client sends. */
export const meetSecrets = ({ exchange, send, service }: WatchedSimulator.WatchedSimulator) =>
  Effect.gen(function*() {
    const issued = yield* exchange
    const marked = { authorization: `Bearer ${Secrets.token}`, "service-id": Secrets.customerId }
    const own = issued.authorization.slice("Bearer ".length)
    for (const headers of [issued, marked]) {
      for (const { of } of inUrls) {
        for (const marker of [...markers, own]) {
          yield* send(`${searchPath}?term=${of(marker)}`, { headers: { ...headers, ...marked } })
          yield* send(`/v2/x/${of(marker)}/y`, { headers: marked })
        }
      }
    }
    yield* service.provoke("search", "unavailable", 1)
    yield* send(`${searchPath}?${encodeURIComponent(Secrets.key)}=1`, { headers: marked })
    yield* send(`${tokenPath}/${encodeURIComponent(Secrets.key)}`, { method: "POST", headers: marked })
    for (const path of [`/api${tokenPath}`, "/oauth", "/api"]) {
      yield* send(`${path}/${encodeURIComponent(Secrets.key)}`, { method: "POST" })
    }
    yield* send(`/simulator/provoke/token/${encodeURIComponent(Secrets.key)}`, { method: "POST" })
    yield* service.revoke
    return own
  })

/** Beside the markers, the simulator's own tokens. */
export const shownIn = (text: string, own: string) => [
  ...Secrets.shownIn(text),
  ...(text.includes(own) ? ["the token that was issued"] : [])
]

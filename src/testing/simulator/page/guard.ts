import { isIP } from "./node.js"

/** Returns a host name without its port, with addresses in their shortest form, as a browser sends them. */
const hostNameOf = (host: string | undefined): string | undefined =>
  host !== undefined && /^[\w.:[\]-]+$/.test(host) && URL.canParse(`http://${host}`)
    ? new URL(`http://${host}`).hostname
    : undefined

const bracketed = (address: string) => isIP(address) === 6 ? `[${address}]` : address

const isAddress = (name: string) => isIP(name.replace(/^\[|\]$/g, "")) !== 0

/** The headers that say where a request was sent to and which page sent it. */
interface Sender {
  readonly method: string
  readonly host: string | undefined
  readonly origin: string | undefined
}

/**
 * Decides which requests may use the page and the controls. It rejects requests from pages of other sites, by their `Origin` header, and
 * requests to other names that resolve to this machine, by their `Host` header. `listening` is the address of the server.
 */
export const guard = (listening: string | undefined, allowedHosts: ReadonlyArray<string>) => {
  const [own, ...named] = [listening, ...allowedHosts].map((name) => name && hostNameOf(bracketed(name)))

  const isOurs = (name: string) =>
    /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(name) || name === own || named.includes(name) ||
    (own === "0.0.0.0" || own === "[::]") && isAddress(name)

  return ({ host, method, origin }: Sender): boolean => {
    const name = hostNameOf(host)
    if (name === undefined || !isOurs(name)) return false
    return method !== "POST" || origin === undefined || origin === new URL(`http://${host}`).origin
  }
}

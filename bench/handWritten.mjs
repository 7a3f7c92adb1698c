/**
 * The base of the comparisons: what a careful team writes on undici. All searches use one token, which is renewed before it expires and after
 * a rejection. The timeout and the size limit are those of the library, and the Pool applies them, which is the cheapest way.
 */
import { byPromise } from "./drivers.mjs"
import { rejected, searchPath, shared, sockets, tokenOf, tokenPath } from "./service.mjs"

export const handWritten = async (baseUrl) => {
  const { Pool } = await import("@effect/platform-node/Undici")
  const pool = new Pool(baseUrl, {
    connections: sockets,
    headersTimeout: 30_000,
    bodyTimeout: 30_000,
    maxResponseSize: 16 * 1024 * 1024
  })
  let token
  const jsonOf = ({ body, statusCode }) => {
    if (statusCode === 200) return body.json()
    return body.dump().then(() => Promise.reject(new Error(`the status code is ${statusCode}`)))
  }
  const renew = shared(async () => {
    token = tokenOf(await jsonOf(await pool.request({ path: tokenPath, method: "POST" })))
    return token
  })
  const isUsable = () => token !== undefined && token.expiresAt - 10_000 > Date.now()
  const send = (term, { headers }) => pool.request({ path: searchPath(term), method: "GET", headers })
  const search = async (term) => {
    const used = isUsable() ? token : await renew()
    const response = await send(term, used)
    if (!rejected.has(response.statusCode)) return jsonOf(response)
    await response.body.dump()
    return jsonOf(await send(term, isUsable() && token !== used ? token : await renew()))
  }
  return byPromise(search, () => pool.destroy())
}

/** What a careful team writes by hand over undici: one token for all, renewed before it expires and once after a rejection. */
import { type Dispatcher, Pool } from "undici"
import { type Make, searchPath, sockets } from "./Client.js"
import { shared, type Token, tokenOf, tokenPath, type TokenResponse } from "./Exchange.js"
import { promised } from "./promised.js"

const margin = 10_000

const rejected = new Set([401, 403])

const jsonOf = async ({ body, statusCode }: Dispatcher.ResponseData): Promise<unknown> => {
  if (statusCode === 200) return body.json()
  await body.dump()
  throw new Error(`answered with ${statusCode}`)
}

export const make: Make = ({ baseUrl, licenseKeys }) => {
  const pool = new Pool(baseUrl, { connections: sockets })
  let token: Token | undefined

  const renew = shared(async () =>
    token = tokenOf(
      await jsonOf(await pool.request({ path: tokenPath(licenseKeys[0]), method: "POST" })) as TokenResponse
    )
  )

  const isUsable = (token: Token | undefined): token is Token =>
    token !== undefined && token.expiresAt - margin > Date.now()

  const send = (term: string, { serviceId, value }: Token) =>
    pool.request({
      path: `${searchPath}${encodeURIComponent(term)}`,
      method: "GET",
      headers: { authorization: `Bearer ${value}`, "service-id": serviceId }
    })

  const search = async (term: string) => {
    const used = isUsable(token) ? token : await renew()
    const response = await send(term, used)
    if (!rejected.has(response.statusCode)) return jsonOf(response)
    await response.body.dump()
    return jsonOf(await send(term, isUsable(token) && token !== used ? token : await renew()))
  }

  return Promise.resolve(promised(search, () => pool.destroy()))
}

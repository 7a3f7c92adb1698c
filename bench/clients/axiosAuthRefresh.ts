/** axios with axios-auth-refresh, set up as its README shows. */
import { Agent } from "node:http"
import axios from "axios"
import { createAuthRefresh } from "axios-auth-refresh"
import { type Make, searchPath, sockets } from "./Client.js"
import { exchange, type Token } from "./Exchange.js"
import { promised } from "./promised.js"

export const make: Make = (setting) => {
  const httpAgent = new Agent({ keepAlive: true, maxSockets: sockets })
  const client = axios.create({ baseURL: setting.baseUrl, httpAgent, proxy: false })
  let token: Token | undefined
  client.interceptors.request.use((request) => {
    if (token !== undefined) {
      request.headers.set("Authorization", `Bearer ${token.value}`)
      request.headers.set("Service-ID", token.serviceId)
    }
    return request
  })
  createAuthRefresh(
    client as never, // its types name the CommonJS build of axios, as which an ES module does not see it
    async () => {
      token = await exchange(setting)
    },
    { statusCodes: [401, 403] }
  )
  const search = async (term: string) => {
    const { data } = await client.get<unknown>(`${searchPath}${encodeURIComponent(term)}`)
    return data
  }
  return Promise.resolve(promised(search, () => Promise.resolve(httpAgent.destroy())))
}

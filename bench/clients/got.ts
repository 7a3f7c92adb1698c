/** got, with the hooks of its documentation for tokens: set before each request, renewed after a rejection. */
import { Agent } from "node:http"
import { got } from "got"
import { type Make, searchPath, sockets } from "./Client.js"
import { exchange, type Token } from "./Exchange.js"
import { promised } from "./promised.js"

export const make: Make = (setting) => {
  const agent = new Agent({ keepAlive: true, maxSockets: sockets })
  let token: Token | undefined
  const authorized = ({ serviceId, value }: Token) => ({ authorization: `Bearer ${value}`, "service-id": serviceId })
  const client = got.extend({
    agent: { http: agent },
    prefixUrl: setting.baseUrl,
    responseType: "json",
    hooks: {
      beforeRequest: [
        async (options) => {
          token ??= await exchange(setting)
          Object.assign(options.headers, authorized(token))
        }
      ],
      afterResponse: [
        async (response, retryWithMergedOptions) => {
          if (response.statusCode !== 401 && response.statusCode !== 403) return response
          token = await exchange(setting)
          return retryWithMergedOptions({ headers: authorized(token) })
        }
      ]
    }
  })
  const path = searchPath.slice(1)
  const search = async (term: string) => {
    const { body } = await client.get<unknown>(`${path}${encodeURIComponent(term)}`)
    return body
  }
  return Promise.resolve(promised(search, () => Promise.resolve(agent.destroy())))
}

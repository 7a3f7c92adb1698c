/** ky, with the hooks of its documentation for tokens; its sockets are those of Node's fetch. */
import ky from "ky"
import { type Make, searchPath } from "./Client.js"
import { exchange, type Token } from "./Exchange.js"
import { promised } from "./promised.js"

export const make: Make = (setting) => {
  let token: Token | undefined
  const authorize = (request: Request, { serviceId, value }: Token) => {
    request.headers.set("Authorization", `Bearer ${value}`)
    request.headers.set("Service-ID", serviceId)
  }
  const client = ky.create({
    prefixUrl: setting.baseUrl,
    hooks: {
      beforeRequest: [
        async (request) => {
          token ??= await exchange(setting)
          authorize(request, token)
        }
      ],
      afterResponse: [
        async (request, _options, response) => {
          if (response.status !== 401 && response.status !== 403) return response
          token = await exchange(setting)
          authorize(request, token)
          return ky(request)
        }
      ]
    }
  })
  const path = searchPath.slice(1)
  return Promise.resolve(promised((term) => client.get(`${path}${encodeURIComponent(term)}`).json()))
}

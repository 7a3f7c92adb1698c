/** google-auth-library with the refresh handler that its documentation shows for tokens of another issuer. */
import { Agent } from "node:http"
import { OAuth2Client } from "google-auth-library"
import { type Make, searchPath, sockets } from "./Client.js"
import { exchange, shared } from "./Exchange.js"
import { promised } from "./promised.js"

export const make: Make = (setting) => {
  const agent = new Agent({ keepAlive: true, maxSockets: sockets })
  const client = new OAuth2Client({ forceRefreshOnFailure: true, transporterOptions: { agent } })
  client.refreshHandler = shared(async () => {
    const { expiresAt, value } = await exchange(setting)
    return { access_token: value, expiry_date: expiresAt }
  })
  const search = async (term: string) => {
    const { data } = await client.request<unknown>({
      url: `${setting.baseUrl}${searchPath}${encodeURIComponent(term)}`,
      headers: { "Service-ID": setting.serviceId }
    })
    return data
  }
  return Promise.resolve(promised(search, () => Promise.resolve(agent.destroy())))
}

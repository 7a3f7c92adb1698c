/** The reference: undici's `request` with a hard-coded token. */
import { Agent, request } from "undici"
import { type Make, searchPath, sockets } from "./Client.js"
import { promised } from "./promised.js"

export const make: Make = ({ authorization, baseUrl, serviceId }) => {
  const dispatcher = new Agent({ connections: sockets })
  const headers = { authorization, "service-id": serviceId }
  const search = async (term: string) => {
    const { body, statusCode } = await request(`${baseUrl}${searchPath}${encodeURIComponent(term)}`, {
      dispatcher,
      headers
    })
    if (statusCode !== 200) throw new Error(`answered with ${statusCode}`)
    return body.json()
  }
  return Promise.resolve(promised(search, () => dispatcher.destroy()))
}

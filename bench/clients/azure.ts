/** @azure/core-rest-pipeline with its token policy, and nothing in the pipeline that a search does not need. */
import { Agent } from "node:http"
import {
  bearerTokenAuthenticationPolicy,
  createDefaultHttpClient,
  createEmptyPipeline,
  createHttpHeaders,
  createPipelineRequest,
  type PipelinePolicy
} from "@azure/core-rest-pipeline"
import { type Make, searchPath, sockets } from "./Client.js"
import { exchange, type Token } from "./Exchange.js"
import { promised } from "./promised.js"

/** The token policy insists on https, as it should; the benchmark has no certificate. */
const plainHttp: PipelinePolicy = {
  name: "plainHttp",
  sendRequest: (request, next) => {
    request.url = `http${request.url.slice("https".length)}`
    return next(request)
  }
}

const httpsUrl = (baseUrl: string) => `https${baseUrl.slice("http".length)}`

export const make: Make = (setting) => {
  const agent = new Agent({ keepAlive: true, maxSockets: sockets })
  let token: Token | undefined

  const freshPolicy = () =>
    bearerTokenAuthenticationPolicy({
      credential: {
        getToken: async () => {
          token = await exchange(setting)
          return { token: token.value, expiresOnTimestamp: token.expiresAt }
        }
      },
      scopes: "read:search"
    })

  let bearer = freshPolicy()

  /** The policy knows a challenge with 401 only. A rejected token is dropped with the policy that keeps it. */
  const renewing: PipelinePolicy = {
    name: "renewing",
    sendRequest: async (request, next) => {
      const { url } = request
      const used = bearer
      const response = await used.sendRequest(request, next)
      if (response.status !== 403) return response
      if (bearer === used) bearer = freshPolicy()
      request.url = url
      return bearer.sendRequest(request, next)
    }
  }

  const serviceId: PipelinePolicy = {
    name: "serviceId",
    sendRequest: (request, next) => {
      request.headers.set("Service-ID", token?.serviceId ?? "")
      return next(request)
    }
  }

  const pipeline = createEmptyPipeline()
  pipeline.addPolicy(renewing)
  pipeline.addPolicy(serviceId, { afterPolicies: [renewing.name] })
  pipeline.addPolicy(plainHttp, { afterPolicies: [serviceId.name] })
  const httpClient = createDefaultHttpClient()
  const url = `${httpsUrl(setting.baseUrl)}${searchPath}`

  const search = async (term: string) => {
    const request = createPipelineRequest({
      url: `${url}${encodeURIComponent(term)}`,
      allowInsecureConnection: true,
      headers: createHttpHeaders({ accept: "application/json" })
    })
    request.agent = agent
    const { bodyAsText, status } = await pipeline.sendRequest(httpClient, request)
    if (status !== 200) throw new Error(`answered with ${status}`)
    return JSON.parse(bodyAsText ?? "")
  }

  return Promise.resolve(promised(search, () => Promise.resolve(agent.destroy())))
}

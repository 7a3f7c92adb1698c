/** Other clients, each with its own means to renew a token. */
import { Agent } from "node:http"
import { byPromise } from "./drivers.mjs"
import { customer, exchange, rejected, searchPath, shared, sockets } from "./service.mjs"

const keptAlive = () => new Agent({ keepAlive: true, maxSockets: sockets })

/** Its token policy in a pipeline with nothing else. The policy requires https and handles only 401, so two policies adapt it. */
export const azure = async (baseUrl) => {
  const Azure = await import("@azure/core-rest-pipeline")
  const agent = keptAlive()
  let token
  const getToken = async () => {
    token = await exchange(baseUrl)
    return { token: token.value, expiresOnTimestamp: token.expiresAt }
  }
  const bearerPolicy = () => Azure.bearerTokenAuthenticationPolicy({ credential: { getToken }, scopes: "read:search" })
  let bearer = bearerPolicy()
  const renewing = {
    name: "renewing",
    sendRequest: async (request, next) => {
      const { url } = request
      const used = bearer
      const response = await used.sendRequest(request, next)
      if (response.status !== 403) return response
      if (bearer === used) bearer = bearerPolicy()
      request.url = url
      return bearer.sendRequest(request, next)
    }
  }
  const identified = {
    name: "identified",
    sendRequest: (request, next) => {
      request.headers.set("Service-ID", token.serviceId)
      request.url = request.url.replace("https", "http")
      return next(request)
    }
  }
  const pipeline = Azure.createEmptyPipeline()
  pipeline.addPolicy(renewing)
  pipeline.addPolicy(identified, { afterPolicies: [renewing.name] })
  const client = Azure.createDefaultHttpClient()
  const secureUrl = baseUrl.replace("http", "https")
  return byPromise(async (term) => {
    const url = `${secureUrl}${searchPath(term)}`
    const request = Azure.createPipelineRequest({ url, allowInsecureConnection: true })
    request.agent = agent
    const { bodyAsText, status } = await pipeline.sendRequest(client, request)
    if (status !== 200) throw new Error(`the status code is ${status}`)
    return JSON.parse(bodyAsText)
  })
}

/** The refresh handler that its documentation shows for tokens of another issuer. It returns no customer, so that is a constant. */
export const googleAuth = async (baseUrl) => {
  const { OAuth2Client } = await import("google-auth-library")
  const client = new OAuth2Client({ forceRefreshOnFailure: true, transporterOptions: { agent: keptAlive() } })
  client.refreshHandler = shared(async () => {
    const { expiresAt, value } = await exchange(baseUrl)
    return { access_token: value, expiry_date: expiresAt }
  })
  return byPromise(async (term) => {
    const url = `${baseUrl}${searchPath(term)}`
    return (await client.request({ url, headers: { "Service-ID": customer } })).data
  })
}

/** The setup of its README. */
export const axiosAuthRefresh = async (baseUrl) => {
  const { default: axios } = await import("axios")
  const { createAuthRefresh } = await import("axios-auth-refresh")
  const client = axios.create({ baseURL: baseUrl, httpAgent: keptAlive(), proxy: false })
  let token
  client.interceptors.request.use((request) => {
    request.headers.set(token?.headers ?? {})
    return request
  })
  createAuthRefresh(client, async () => {
    token = await exchange(baseUrl)
  }, { statusCodes: [...rejected] })
  return byPromise(async (term) => (await client.get(searchPath(term))).data)
}

/** The hooks that its documentation shows for tokens: one sets the token, and one renews it after a rejection. */
export const got = async (baseUrl) => {
  const library = await import("got")
  let token
  const client = library.got.extend({
    agent: { http: keptAlive() },
    prefixUrl: baseUrl,
    responseType: "json",
    hooks: {
      beforeRequest: [async (options) => {
        token ??= await exchange(baseUrl)
        Object.assign(options.headers, token.headers)
      }],
      afterResponse: [async (response, retryWithMergedOptions) => {
        if (!rejected.has(response.statusCode)) return response
        token = await exchange(baseUrl)
        return retryWithMergedOptions({ headers: token.headers })
      }]
    }
  })
  return byPromise(async (term) => (await client.get(searchPath(term).slice(1))).body)
}

/** The hooks that its documentation shows for tokens. Its sockets are those of Node's fetch. */
export const ky = async (baseUrl) => {
  const library = await import("ky")
  let token
  const authorize = (request) =>
    Object.entries(token.headers).forEach(([name, value]) => request.headers.set(name, value))
  const client = library.default.create({
    prefixUrl: baseUrl,
    hooks: {
      beforeRequest: [async (request) => {
        token ??= await exchange(baseUrl)
        authorize(request)
      }],
      afterResponse: [async (request, _options, response) => {
        if (!rejected.has(response.status)) return response
        token = await exchange(baseUrl)
        authorize(request)
        return library.default(request)
      }]
    }
  })
  return byPromise((term) => client.get(searchPath(term).slice(1)).json())
}

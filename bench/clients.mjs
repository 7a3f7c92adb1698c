/** The clients by name; a process loads its own alone. LIBRARY is the folder of the compiled library. */
import { Agent } from "node:http"
import { join } from "node:path"
import { performance } from "node:perf_hooks"
import { pathToFileURL } from "node:url"

/** As many sockets as UndiciClient opens. */
const sockets = 64

const searchPath = "/v2/products/napi/food/search/semantic?term="

const tokenPath = "/v2/token-cache/nutrition-advisor/oauth/licence/key"

const ours = (path) => import(pathToFileURL(join(process.env.LIBRARY, path)).href)

const nothing = () => Promise.resolve()

/** One call for each search. */
const promised = (search, close = nothing) => {
  const worker = async ({ next, note }) => {
    for (let term = next(); term !== undefined; term = next()) {
      const begun = performance.now()
      note(begun, await search(term))
    }
  }
  const drive = (load) => Promise.all(Array.from({ length: load.concurrency }, () => worker(load)))
  return { search, drive, close }
}

/** Many fibers in one run. */
const fibers = (Effect, search, close) => {
  const worker = ({ next, note }) =>
    Effect.suspend(() => {
      let begun = 0
      let term = next()
      return Effect.whileLoop({
        while: () => term !== undefined,
        body: () => {
          begun = performance.now()
          return search(term)
        },
        step: (answer) => {
          note(begun, answer)
          term = next()
        }
      })
    })
  const drive = (load) =>
    Effect.runPromise(
      Effect.forEach(Array.from({ length: load.concurrency }), () => worker(load), {
        concurrency: "unbounded",
        discard: true
      })
    )
  return { search: (term) => Effect.runPromise(search(term)), drive, close }
}

const tokenOf = ({ access_token: value, customer_id: serviceId, expires_in: lifetime }) => ({
  value,
  serviceId,
  headers: { authorization: `Bearer ${value}`, "service-id": serviceId },
  expiresAt: Date.now() + lifetime * 1000
})

const exchange = async (baseUrl) => tokenOf(await (await fetch(baseUrl + tokenPath, { method: "POST" })).json())

/** Callers that come while it runs wait for it. */
const shared = (run) => {
  let flight
  return () => flight ??= run().finally(() => flight = undefined)
}

const rejected = new Set([401, 403])

const keptAlive = () => new Agent({ keepAlive: true, maxSockets: sockets })

/** The reference: undici's `request` with a hard-coded token. */
const undiciRequest = async ({ authorization, baseUrl, serviceId }) => {
  const { Agent, request } = await import("@effect/platform-node/Undici")
  const dispatcher = new Agent({ connections: sockets })
  const headers = { authorization, "service-id": serviceId }
  return promised(async (term) => {
    const { body } = await request(`${baseUrl}${searchPath}${encodeURIComponent(term)}`, { dispatcher, headers })
    return body.json()
  }, () => dispatcher.destroy())
}

/** What a careful team writes by hand: one token for all, renewed before it expires and once after a rejection. */
const handWritten = async ({ baseUrl }) => {
  const { Pool } = await import("@effect/platform-node/Undici")
  const pool = new Pool(baseUrl, { connections: sockets })
  let token
  const jsonOf = ({ body, statusCode }) => {
    if (statusCode === 200) return body.json()
    return body.dump().then(() => Promise.reject(new Error(`answered with ${statusCode}`)))
  }
  const renew = shared(async () =>
    token = tokenOf(await jsonOf(await pool.request({ path: tokenPath, method: "POST" })))
  )
  const isUsable = () => token !== undefined && token.expiresAt - 10_000 > Date.now()
  const send = (term, { headers }) =>
    pool.request({ path: `${searchPath}${encodeURIComponent(term)}`, method: "GET", headers })
  return promised(async (term) => {
    const used = isUsable() ? token : await renew()
    const response = await send(term, used)
    if (!rejected.has(response.statusCode)) return jsonOf(response)
    await response.body.dump()
    return jsonOf(await send(term, isUsable() && token !== used ? token : await renew()))
  }, () => pool.destroy())
}

/** Its token policy, and nothing in the pipeline that a search does not need. The policy insists on https and knows 401 only. */
const azure = async ({ baseUrl }) => {
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
  const url = `${baseUrl.replace("http", "https")}${searchPath}`
  return promised(async (term) => {
    const request = Azure.createPipelineRequest({
      url: `${url}${encodeURIComponent(term)}`,
      allowInsecureConnection: true
    })
    request.agent = agent
    const { bodyAsText, status } = await pipeline.sendRequest(client, request)
    if (status !== 200) throw new Error(`answered with ${status}`)
    return JSON.parse(bodyAsText)
  })
}

/** The refresh handler that its documentation shows for tokens of another issuer. */
const googleAuth = async ({ baseUrl, serviceId }) => {
  const { OAuth2Client } = await import("google-auth-library")
  const client = new OAuth2Client({ forceRefreshOnFailure: true, transporterOptions: { agent: keptAlive() } })
  client.refreshHandler = shared(async () => {
    const { expiresAt, value } = await exchange(baseUrl)
    return { access_token: value, expiry_date: expiresAt }
  })
  return promised(async (term) => {
    const url = `${baseUrl}${searchPath}${encodeURIComponent(term)}`
    return (await client.request({ url, headers: { "Service-ID": serviceId } })).data
  })
}

/** Set up as its README shows. */
const axiosAuthRefresh = async ({ baseUrl }) => {
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
  }, { statusCodes: [401, 403] })
  return promised(async (term) => (await client.get(`${searchPath}${encodeURIComponent(term)}`)).data)
}

/** The hooks of its documentation for tokens: set before each request, renewed after a rejection. */
const got = async ({ baseUrl }) => {
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
  return promised(async (term) => (await client.get(`${searchPath.slice(1)}${encodeURIComponent(term)}`)).body)
}

/** The hooks of its documentation for tokens; its sockets are those of Node's fetch. */
const ky = async ({ baseUrl }) => {
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
  return promised((term) => client.get(`${searchPath.slice(1)}${encodeURIComponent(term)}`).json())
}

/** The platform's clients, with connections that are kept. */
const platformLayer = async (over) => {
  const { NodeHttpClient } = await import("@effect/platform-node")
  const { FetchHttpClient } = await import("@effect/platform")
  const { Layer } = await import("effect")
  const agent = NodeHttpClient.makeAgentLayer({ keepAlive: true, maxSockets: sockets })
  return {
    undici: NodeHttpClient.layerUndici,
    fetch: FetchHttpClient.layer,
    "node:http": Layer.provide(NodeHttpClient.layerWithoutAgent, agent)
  }[over]
}

/** The platform's HttpClient as it comes, with a hard-coded token: what a search costs before a library does anything. */
const stock = (over) => async ({ authorization, baseUrl, serviceId }) => {
  const { HttpClient, HttpClientRequest } = await import("@effect/platform")
  const { Effect, ManagedRuntime } = await import("effect")
  const runtime = ManagedRuntime.make(await platformLayer(over))
  const client = await runtime.runPromise(HttpClient.HttpClient)
  const headers = { authorization, "service-id": serviceId }
  const search = (term) =>
    Effect.flatMap(
      client.execute(HttpClientRequest.get(`${baseUrl}${searchPath}${encodeURIComponent(term)}`, { headers })),
      (response) => response.status === 200 ? response.json : Effect.fail(`answered with ${response.status}`)
    )
  return promised((term) => Effect.runPromise(search(term)), () => runtime.dispose())
}

/** The whole library: tokens, both headers, typed errors, metrics, spans, JSON. */
const library = ({ by, over }) => async ({ baseUrl }) => {
  const { Effect, Layer, ManagedRuntime, Redacted } = await import("effect")
  const NutritionAdvisor = await ours("NutritionAdvisor.js")
  const client = over === undefined
    ? (await ours("undici/UndiciClient.js")).layer()
    : await platformLayer(over)
  const Advisor = NutritionAdvisor.layer({ baseUrl, licenseKey: Redacted.make("key-of-the-bench") })
  const runtime = ManagedRuntime.make(Layer.provide(Advisor, client))
  const { search } = await runtime.runPromise(NutritionAdvisor.NutritionAdvisor)
  const close = () => runtime.dispose()
  return by === "fibers" ? fibers(Effect, search, close) : promised((term) => Effect.runPromise(search(term)), close)
}

/** The client of promises, over the same HttpClient as the library by runPromise. */
const promises = async ({ baseUrl }) => {
  const { createClient } = await ours("promise/Client.js")
  const httpClient = (await ours("undici/UndiciClient.js")).layer()
  const { close, search } = createClient({ baseUrl, licenseKey: "key-of-the-bench", httpClient })
  return promised((term) => search(term), close)
}

const clients = {
  "undici.request": undiciRequest,
  "hand-written": handWritten,
  azure,
  "google-auth": googleAuth,
  "axios-auth-refresh": axiosAuthRefresh,
  got,
  ky,
  "stock-undici": stock("undici"),
  "stock-fetch": stock("fetch"),
  "stock-node:http": stock("node:http"),
  "ours-fibers": library({ by: "fibers" }),
  "ours-runPromise": library({ by: "runPromise" }),
  "ours-promises": promises,
  "ours-over-undici": library({ by: "runPromise", over: "undici" }),
  "ours-over-fetch": library({ by: "runPromise", over: "fetch" }),
  "ours-over-node:http": library({ by: "runPromise", over: "node:http" })
}

export const load = (name) => {
  if (!(name in clients)) throw new Error(`no client has the name ${name}`)
  return clients[name]
}

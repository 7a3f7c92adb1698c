/** What the server and the clients agree on. */

export const customer = "customer-of-the-bench"

/** As many sockets as UndiciClient opens. */
export const sockets = 64

export const tokenPath = "/v2/token-cache/nutrition-advisor/oauth/licence/key"

export const searchPath = (term) => `/v2/products/napi/food/search/semantic?term=${encodeURIComponent(term)}`

export const rejected = new Set([401, 403])

export const tokenOf = ({ access_token: value, customer_id: serviceId, expires_in: lifetime }) => ({
  value,
  serviceId,
  headers: { authorization: `Bearer ${value}`, "service-id": serviceId },
  expiresAt: Date.now() + lifetime * 1000
})

export const exchange = async (baseUrl) => tokenOf(await (await fetch(baseUrl + tokenPath, { method: "POST" })).json())

/** Callers that arrive while it runs wait for the same result. */
export const shared = (run) => {
  let running
  return () =>
    running ??= run().finally(() => {
      running = undefined
    })
}

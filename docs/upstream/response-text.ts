import { HttpClientRequest, HttpClientResponse } from "@effect/platform"

const request = HttpClientRequest.get("http://127.0.0.1:8080")
const web = new Response("{}")
const turns = 200_000

for (let round = 0; round < 3; round++) {
  const begun = performance.now()
  for (let turn = 0; turn < turns; turn++) void HttpClientResponse.fromWeb(request, web).text
  console.log((((performance.now() - begun) * 1000) / turns).toFixed(1), "µs")
}

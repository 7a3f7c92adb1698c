import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import * as Undici from "undici"

const server = createServer((request, response) => request.pipe(response))
await once(server.listen(0, "127.0.0.1"), "listening")
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

const form = new FormData()
form.append("meal", "breakfast")

const body = form as unknown as Undici.FormData
console.log(await Undici.fetch(url, { method: "POST", body }).then((response) => response.text()))
console.log(await Undici.request(url, { method: "POST", body }).catch((error: unknown) => error))

process.exit()

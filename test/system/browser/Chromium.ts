/** A headless Chromium, and one that opens a page of a server on this machine and tells what the page shows. */
import { once } from "node:events"
import { existsSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { delimiter, join } from "node:path"
import { type Browser, chromium } from "playwright-core"

export const executable: string | undefined = (process.env["PATH"] ?? "")
  .split(delimiter)
  .map((folder) => join(folder, "chromium"))
  .find((file) => existsSync(file))

export const launch = (): Promise<Browser> =>
  chromium.launch({
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-dev-shm-usage",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync"
    ],
    executablePath: executable ?? "chromium"
  })

/** Where a bundle is loaded. */
export type Place = "page" | "module worker" | "classic worker"

const loadIn = (place: Place) =>
  place === "page"
    ? "import(\"/bundle.js\").then(({ outcome }) => outcome).then(show, (error) => show(String(error)))"
    : `const worker = new Worker("/worker.js", { type: "${place.replace(" worker", "")}" })
       worker.onmessage = ({ data }) => show(data)
       worker.onerror = ({ message }) => show(message)`

const worker = `import("/bundle.js").then(({ outcome }) => outcome)
  .then((outcome) => postMessage(outcome), (error) => postMessage(String(error)))`

const page = (place: Place) =>
  `<!doctype html><title>${place}</title><output></output>
   <script type="module">
     const show = (outcome) => document.querySelector("output").textContent = outcome
     ${loadIn(place)}
   </script>`

/** What the page shows: the bundle's export `outcome`, or the error that its import ended in. */
export const open = async (bundle: string, place: Place): Promise<string | null> => {
  const files: Readonly<Record<string, string>> = { "/": page(place), "/bundle.js": bundle, "/worker.js": worker }
  const server = createServer(({ url = "" }, response) => {
    const type = url.endsWith(".js") ? "text/javascript" : "text/html"
    response.writeHead(url in files ? 200 : 404, { "content-type": `${type}; charset=utf-8` }).end(files[url])
  })
  await once(server.listen(0, "127.0.0.1"), "listening")
  const browser = await launch()
  try {
    const opened = await browser.newPage()
    await opened.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
    return await opened.locator("output:not(:empty)").textContent({ timeout: 60_000 })
  } finally {
    await browser.close()
    server.close()
    server.closeAllConnections()
  }
}

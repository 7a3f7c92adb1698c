/** A headless Chromium that opens a page of a server on this machine and tells what the page shows in its DOM. */
import { execFile } from "node:child_process"
import { existsSync } from "node:fs"
import { mkdtemp, rm } from "node:fs/promises"
import { createServer, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { delimiter, join } from "node:path"
import { promisify } from "node:util"

const run = promisify(execFile)

export const executable: string | undefined = (process.env["PATH"] ?? "")
  .split(delimiter)
  .map((folder) => join(folder, "chromium"))
  .find((file) => existsSync(file))

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

/** The image keeps the page loading, and Chromium waiting, until the outcome is shown. */
const page = (place: Place) =>
  `<!doctype html><title>${place}</title><output></output><img src="/until-shown">
   <script type="module">
     const show = (outcome) => {
       document.querySelector("output").textContent = outcome
       fetch("/shown")
     }
     ${loadIn(place)}
   </script>`

const entities: Readonly<Record<string, string>> = { "&amp;": "&", "&lt;": "<", "&gt;": ">" }

const shownIn = (dom: string) =>
  /<output>(.*)<\/output>/s.exec(dom)?.[1]?.replace(/&(amp|lt|gt);/g, (entity) => entities[entity] ?? entity)

const serve = async (files: Readonly<Record<string, readonly [type: string, text: string]>>) => {
  const waiting: Array<ServerResponse> = []
  let isShown = false
  const server = createServer(({ url = "" }, response) => {
    const file = files[url]
    if (file !== undefined) {
      response.writeHead(200, { "content-type": file[0] }).end(file[1])
    } else if (url === "/until-shown" && !isShown) {
      waiting.push(response)
    } else {
      isShown ||= url === "/shown"
      response.writeHead(404).end()
      if (isShown) { for (const held of waiting.splice(0)) held.writeHead(404).end() }
    }
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const close = () => {
    server.close()
    server.closeAllConnections()
  }
  return { close, origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

/** What the page shows: the bundle's export `outcome`, or the error that its import ended in. */
export const open = async (bundle: string, place: Place): Promise<string | undefined> => {
  if (executable === undefined) throw new Error("chromium is not installed")
  const profile = await mkdtemp(join(tmpdir(), "chromium-"))
  const { close, origin } = await serve({
    "/": ["text/html; charset=utf-8", page(place)],
    "/bundle.js": ["text/javascript; charset=utf-8", bundle],
    "/worker.js": ["text/javascript; charset=utf-8", worker]
  })
  try {
    const { stdout } = await run(executable, [
      "--headless",
      "--no-sandbox",
      "--disable-gpu",
      "--disable-dev-shm-usage",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
      `--user-data-dir=${profile}`,
      "--dump-dom",
      `${origin}/`
    ], { timeout: 60_000, killSignal: "SIGKILL", maxBuffer: 64 * 1024 * 1024 })
    return shownIn(stdout)
  } finally {
    close()
    await rm(profile, { recursive: true, force: true, maxRetries: 5 })
  }
}

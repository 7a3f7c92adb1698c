/** The simulator's page, from its source, in a Chromium that tells what the page asked for and complained about. */
import { Effect, type Scope } from "effect"
import { type Browser, chromium, type Page as BrowserPage } from "playwright-core"
import * as WatchedSimulator from "../../support/doubles/WatchedSimulator.js"
import * as Program from "../Program.js"

export const isSkipped = Program.isMissing("chromium", "REQUIRE_CHROMIUM")

export const browser: Effect.Effect<Browser, never, Scope.Scope> = Effect.acquireRelease(
  Effect.promise(() =>
    chromium.launch({
      args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-dev-shm-usage"],
      executablePath: Program.pathOf("chromium") ?? "chromium"
    })
  ),
  (browser) => Effect.promise(() => browser.close())
)

interface Look {
  readonly width?: number
  readonly colorScheme?: "light" | "dark"
}

/** The marks of the timeline, from left to right. */
const marksOf = async (page: BrowserPage) => {
  const marks = await page.locator("#timeline .mark").evaluateAll((marks) =>
    marks.map((mark) => {
      const { x, y } = mark.getBoundingClientRect()
      const kind = mark.getAttribute("class")?.replace("mark ", "") ?? ""
      return { kind, label: mark.getAttribute("aria-label") ?? "", x, y }
    })
  )
  return marks.sort((one, other) => one.x - other.x)
}

export const open = (browser: Browser, { colorScheme = "light", width = 1200 }: Look = {}) =>
  Effect.gen(function*() {
    const simulator = yield* WatchedSimulator.start()
    const page = yield* Effect.acquireRelease(
      Effect.promise(() => browser.newPage({ colorScheme, viewport: { width, height: 900 } })),
      (page) => Effect.promise(() => page.close())
    )
    /** Errors of the page, and of its console. */
    const complaints: Array<string> = []
    /** What it asked for, by URL. */
    const asked: Array<string> = []
    page.on("console", (message) => {
      if (["error", "warning"].includes(message.type())) complaints.push(message.text())
    })
    page.on("pageerror", (error) => complaints.push(String(error)))
    page.on("request", (request) => asked.push(request.url()))
    yield* Effect.promise(() => page.goto(`${simulator.url}/simulator/`))
    yield* Effect.promise(() => page.getByText("Live", { exact: true }).waitFor())
    return { ...simulator, page, complaints, asked, marks: Effect.promise(() => marksOf(page)) }
  })

export type Page = Effect.Effect.Success<ReturnType<typeof open>>

/** The simulator's page, from its source, in a Chromium. */
import { afterAll, beforeAll, describe, expect } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { type Browser, chromium, type Page as BrowserPage } from "playwright-core"
import { arrangedLive } from "../support/doubles/arranged.js"
import * as WatchedSimulator from "../support/doubles/WatchedSimulator.js"
import { searchPath, tokenPath } from "../support/doubles/WatchedSimulator.js"
import { eventually } from "../support/doubles/Wire.js"
import * as Program from "./Program.js"

const promise = <A>(run: () => Promise<A>) => Effect.promise(run)

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

let browser: Browser

const open = Effect.gen(function*() {
  const simulator = yield* WatchedSimulator.start()
  const page = yield* Effect.acquireRelease(
    promise(() => browser.newPage({ viewport: { width: 1_200, height: 900 } })),
    (page) => promise(() => page.close())
  )
  /** Errors and warnings of the page, and of its console. */
  const complaints: Array<string> = []
  /** The URLs that it requests. */
  const requested: Array<string> = []
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) complaints.push(message.text())
  })
  page.on("pageerror", (error) => complaints.push(String(error)))
  page.on("request", (request) => requested.push(request.url()))
  yield* promise(() => page.goto(`${simulator.url}/simulator/`))
  yield* promise(() => page.getByText("Live", { exact: true }).waitFor())
  return { ...simulator, page, complaints, requested, marks: promise(() => marksOf(page)) }
})

type Page = Effect.Effect.Success<typeof open>

/** Nothing went wrong, and the page requests nothing from other servers. */
const expectNoComplaint = ({ complaints, requested, url }: Page) => {
  expect(complaints).toEqual([])
  expect(requested.filter((one) => !one.startsWith(`${url}/simulator/`))).toEqual([])
}

const onPage = arrangedLive(open, Layer.empty)

const hasMarks = ({ page }: Page, count: number) =>
  eventually(async () => (await page.locator(".mark").count()) === count)

const rowsOf = ({ page }: Page) =>
  promise(async () => {
    const rows = await page.locator("tbody tr").allInnerTexts()
    return rows.map((row) => {
      const [time, operation, route, status, duration, token, fault] = row.split("\t")
      return { time, operation, route, status, duration, token, fault }
    })
  })

const press = ({ page }: Page, name: string) => promise(() => page.getByRole("button", { name }).click())

const search = (page: Page, headers = {}) => page.send(`${searchPath}?term=apple`, { headers })

describe.skipIf(Program.isMissing("chromium", "REQUIRE_CHROMIUM"))("simulator page", () => {
  beforeAll(async () => {
    browser = await chromium.launch({
      args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-dev-shm-usage"],
      executablePath: Program.pathOf("chromium") ?? "chromium"
    })
  })

  afterAll(() => browser.close())

  onPage("before the first call, it shows client settings without a key", function*(page) {
    const text = yield* promise(() => page.page.locator("body").innerText())
    expect(text).toContain(`Point your client here: ${page.url}`)
    expect(text).toContain(`NUTRITION_ADVISOR_BASE_URL=${page.url}\nNUTRITION_ADVISOR_LICENSE_KEY=\n`)
    expect(text).toMatch(/The license key is the one that the simulator printed, or was given, on startup/)
    expect(yield* promise(() => page.page.content())).not.toContain("demo-key")
    expectNoComplaint(page)
  })

  onPage(
    "each call has a mark and each token a bar, cut at its revocation",
    function*(page) {
      const headers = yield* page.exchange
      yield* search(page, headers)
      yield* page.service.revoke
      yield* search(page, headers)
      yield* page.service.provoke("search", "unavailable", 1)
      yield* search(page, headers)
      yield* page.service.provoke("request", "drop", 1)
      yield* page.send("/v2/plan")
      yield* hasMarks(page, 6)
      const marks = yield* page.marks
      expect(marks.map(({ kind, label }) => `${kind}: ${label.replaceAll(/\d\d:\d\d:\d\d/g, "…")}`).sort()).toEqual([
        "bar: token 1, received at …, revoked at …",
        "fault: request, status drop, fault drop, …",
        "fault: search, status 503, fault unavailable, …",
        "own: exchange, status 200, …",
        "own: search, status 200, …",
        "wrong: search, status 403, …"
      ])
      const rows = ["exchange", "token", "search, status 200", "search, status 403", "search, status 503", "request"]
      const heights = rows.map((label) => marks.find((mark) => mark.label.startsWith(label))?.y ?? 0)
      expect(heights).toEqual([...heights].sort((one, other) => one - other))
      expect(yield* promise(() => page.page.getByText("No calls yet").isVisible())).toBe(false)
      expectNoComplaint(page)
    }
  )

  onPage("mouse and arrow keys show the details of a mark", function*(page) {
    const headers = yield* page.exchange
    yield* search(page, headers)
    yield* page.service.provoke("search", "forbidden", 1)
    yield* search(page, headers)
    yield* hasMarks(page, 4)
    const picked = page.page.getByRole("region", { name: "Picked mark" })
    const says = (text: RegExp) => eventually(async () => text.test((await picked.innerText()).replaceAll(/\s+/g, " ")))
    yield* press(page, "search, status 403")
    yield* says(
      /time \d\d:\d\d:\d\d\.\d{3} operation search route GET \/v2\/products\S+ status 403 duration \d+ ms token #1 fault forbidden ago \d/
    )
    const pressKey = (key: string) => promise(() => page.page.keyboard.press(key))
    yield* pressKey("ArrowLeft")
    yield* says(/status 200 .*token #1 fault none/)
    yield* pressKey("ArrowLeft")
    yield* says(/operation exchange route POST \S+\{key\} status 200 .*token none/)
    yield* pressKey("ArrowLeft")
    yield* says(/token #1 received \S+ lifetime 23\.9 h end/)
    yield* pressKey("ArrowRight")
    yield* says(/operation exchange/)
    yield* promise(() => page.page.getByRole("button", { name: "Table" }).focus())
    yield* pressKey("Tab")
    yield* pressKey("ArrowLeft")
    yield* says(/status 403/)
    expectNoComplaint(page)
  })

  onPage("the table lists the calls, newest first", function*(page) {
    const headers = yield* page.exchange
    yield* press(page, "Table")
    yield* search(page, headers)
    yield* eventually(async () => (await page.page.locator("tbody tr").count()) === 2)
    expect(yield* rowsOf(page)).toEqual([
      expect.objectContaining({
        operation: "search",
        route: `GET ${searchPath}`,
        status: "200",
        token: "#1",
        fault: "none"
      }),
      expect.objectContaining({ operation: "exchange", route: `POST ${tokenPath}/{key}`, token: "none" })
    ])
    yield* press(page, "Table")
    expect(yield* promise(() => page.page.locator("table").isVisible())).toBe(false)
  })

  onPage("Pause freezes the timeline until it is resumed", function*(page) {
    yield* search(page)
    yield* hasMarks(page, 1)
    yield* press(page, "Pause")
    yield* search(page)
    yield* promise(() => page.page.getByText("1 min", { exact: true }).click())
    yield* promise(() => page.page.waitForTimeout(1_000))
    expect((yield* page.marks).length).toBe(1)
    yield* press(page, "Pause")
    yield* hasMarks(page, 2)
  })

  onPage("each control changes the simulator and says how", function*(page) {
    const fill = (name: string, text: string) => promise(() => page.page.getByRole("spinbutton", { name }).fill(text))
    const select = (name: string, option: string) =>
      promise(() => page.page.getByRole("combobox", { name }).selectOption(option))
    const says = (text: string) => promise(() => page.page.getByText(text).waitFor())
    yield* fill("lifetime", "20")
    yield* says("lifetime of new tokens, in seconds: 20.")
    yield* fill("latency of search", "30")
    yield* says("latency of search, in ms: 30.")

    const statuses: Array<number | undefined> = []
    const headers = yield* page.exchange
    const searchTwice = Effect.map(
      Effect.replicateEffect(search(page, headers), 2),
      (responses) => statuses.push(...responses.map((response) => response?.status))
    )
    yield* select("operation", "search")
    yield* select("fault", "unavailable")
    yield* fill("times", "1")
    yield* press(page, "Provoke")
    yield* says("the next search calls (1) get the fault unavailable.")
    yield* searchTwice
    yield* fill("times", "")
    yield* press(page, "Provoke")
    yield* says("every search call gets the fault unavailable.")
    yield* searchTwice
    yield* press(page, "Recover")
    yield* says("no fault is on.")
    yield* searchTwice
    yield* press(page, "Revoke all tokens")
    yield* says("all tokens are revoked.")
    yield* searchTwice
    expect(statuses).toEqual([503, 200, 503, 503, 200, 200, 403, 403])
    yield* eventually(async () => (await page.page.locator("[data-counter=rejections]").innerText()) === "2")
    const events = yield* page.eventsForNewViewer
    const [token] = events.filter((event) => "expiresAt" in event)
    expect(Number(token?.["expiresAt"]) - Number(token?.["receivedAt"])).toBe(20_000)
    const searches = events.filter(({ operation }) => operation === "search")
    expect(Math.min(...searches.map(({ duration }) => Number(duration)))).toBeGreaterThanOrEqual(29)
    expectNoComplaint(page)
  })

  onPage("opened later, it shows the current token, and faults until they end", function*(page) {
    const shows = (state: RegExp) =>
      eventually(async () => state.test(await page.page.getByRole("status", { name: "State" }).innerText()))
    yield* page.exchange
    yield* page.service.provoke("search", "unavailable")
    yield* page.service.provoke("token", "hang", 2)
    yield* promise(() => page.page.reload())
    yield* eventually(async () => (await page.page.locator(".mark.bar").count()) === 1)
    yield* shows(/#1 for 23\.9 h\s+faults on\s+token: hang, next 2; search: unavailable, every call/)
    yield* page.service.recover
    yield* shows(/faults on\s+none/)
    expectNoComplaint(page)
  })

  onPage("during a load test, no call is lost and the document stays small", function*(page) {
    yield* press(page, "Table")
    const storm = Effect.all(Array.from({ length: 50 }, () => page.send("/v2/plan")), { concurrency: "unbounded" })
    yield* Effect.repeatN(storm, 99)
    yield* eventually(async () => (await page.page.locator("caption").innerText()).endsWith("of 5000"))
    expect(yield* promise(() => page.page.locator("tbody tr").count())).toBe(300)
    expect(yield* promise(() => page.page.locator("svg *").count())).toBeLessThan(2_000)
    expect(yield* promise(() => page.page.getByText("Live", { exact: true }).isVisible())).toBe(true)
    expect(page.complaints).toEqual([])
  })

  onPage("it reconnects after a dropped connection and when one of 64 viewers leaves", function*(page) {
    yield* search(page)
    page.server.closeAllConnections()
    yield* promise(() => page.page.getByText("Trying again").waitFor())
    const others = yield* Effect.replicateEffect(page.watch(), 64)
    yield* search(page)
    yield* promise(() => page.page.waitForTimeout(3_000))
    for (const other of others) other.response.destroy()
    yield* promise(() => page.page.getByText("Live", { exact: true }).waitFor())
    yield* hasMarks(page, 2)
  })
})

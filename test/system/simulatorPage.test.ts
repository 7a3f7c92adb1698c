import { describe, expect } from "@effect/vitest"
import { Effect, Exit, Layer, Scope } from "effect"
import type { Browser } from "playwright-core"
import { afterAll, beforeAll } from "vitest"
import { arrangedLive, testLive } from "../support/doubles/arranged.js"
import { searchPath, tokenPath } from "../support/doubles/WatchedSimulator.js"
import * as Chromium from "./browser/Chromium.js"
import * as Page from "./simulatorPage/Page.js"

const scope = Effect.runSync(Scope.make())

let browser: Browser

beforeAll(async () => {
  if (Chromium.executable === undefined) return
  browser = await Effect.runPromise(Scope.extend(Page.browser, scope))
})

afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)))

const promise = <A>(run: () => Promise<A>) => Effect.promise(run)

const eventually = (assertion: () => Promise<unknown>, timeout = 20_000) =>
  promise(() => expect.poll(assertion, { timeout }).toBe(true))

/** The page is the page's own business: nothing is asked of anybody else, and nothing went wrong. */
const expectNoComplaint = ({ asked, complaints, url }: Page.Page) => {
  expect(complaints).toEqual([])
  expect(asked.filter((one) => !one.startsWith(`${url}/simulator/`))).toEqual([])
}

const onPage = arrangedLive(Effect.suspend(() => Page.open(browser)), Layer.empty)

const hasMarks = ({ page }: Page.Page, count: number) =>
  eventually(async () => (await page.locator(".mark").count()) === count)

const rowsOf = ({ page }: Page.Page) =>
  promise(async () => {
    const rows = await page.locator("tbody tr").allInnerTexts()
    return rows.map((row) => {
      const [time, operation, route, status, duration, token, fault] = row.split("\t")
      return { time, operation, route, status, duration, token, fault }
    })
  })

const search = (page: Page.Page, headers = {}) => page.send(`${searchPath}?term=apple`, { headers })

describe.skipIf(Chromium.executable === undefined)("simulator page", () => {
  onPage("simulator page: before the first call, it shows client settings without a key", function*(page) {
    const text = yield* promise(() => page.page.locator("body").innerText())
    expect(text).toContain(`Point your client here: ${page.url}`)
    expect(text).toContain(`NUTRITION_ADVISOR_BASE_URL=${page.url}\nNUTRITION_ADVISOR_LICENSE_KEY=\n`)
    expect(text).toMatch(/The license key is the one that the simulator printed, or was given, on startup/)
    expect(yield* promise(() => page.page.content())).not.toContain("demo-key")
    expectNoComplaint(page)
  })

  onPage(
    "simulator page: each call has a mark and each token a bar, cut at its revocation",
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

  onPage("simulator page: mouse and arrow keys show the details of a mark", function*(page) {
    const headers = yield* page.exchange
    yield* search(page, headers)
    yield* page.service.provoke("search", "forbidden", 1)
    yield* search(page, headers)
    yield* hasMarks(page, 4)
    const picked = page.page.getByRole("region", { name: "Picked mark" })
    const says = (text: RegExp) => eventually(async () => text.test((await picked.innerText()).replaceAll(/\s+/g, " ")))
    yield* promise(() => page.page.getByRole("button", { name: "search, status 403" }).click())
    yield* says(
      /time \d\d:\d\d:\d\d\.\d{3} operation search route GET \/v2\/products\S+ status 403 duration \d+ ms token #1 fault forbidden ago \d/
    )
    const press = (key: string) => promise(() => page.page.keyboard.press(key))
    yield* press("ArrowLeft")
    yield* says(/status 200 .*token #1 fault none/)
    yield* press("ArrowLeft")
    yield* says(/operation exchange route POST \S+\{key\} status 200 .*token none/)
    yield* press("ArrowLeft")
    yield* says(/token #1 received \S+ lifetime 23\.9 h end/)
    yield* press("ArrowRight")
    yield* says(/operation exchange/)
    yield* promise(() => page.page.getByRole("button", { name: "Table" }).focus())
    yield* press("Tab")
    yield* press("ArrowLeft")
    yield* says(/status 403/)
    expectNoComplaint(page)
  })

  onPage("simulator page: the table lists the calls, newest first", function*(page) {
    const headers = yield* page.exchange
    const toggle = page.page.getByRole("button", { name: "Table" })
    yield* promise(() => toggle.click())
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
    yield* promise(() => toggle.click())
    expect(yield* promise(() => page.page.locator("table").isVisible())).toBe(false)
  })

  onPage("simulator page: Pause freezes the timeline until it is resumed", function*(page) {
    yield* search(page)
    yield* hasMarks(page, 1)
    const pause = page.page.getByRole("button", { name: "Pause" })
    yield* promise(() => pause.click())
    yield* search(page)
    yield* promise(() => page.page.getByText("1 min", { exact: true }).click())
    yield* promise(() => page.page.waitForTimeout(1_000))
    expect((yield* page.marks).length).toBe(1)
    yield* promise(() => pause.click())
    yield* hasMarks(page, 2)
  })

  const press = ({ page }: Page.Page, name: string) => promise(() => page.getByRole("button", { name }).click())

  onPage("simulator page: the controls update the counters", function*(page) {
    const lifetimes = () => page.page.getByRole("spinbutton", { name: "lifetime" })
    const fill = (name: string, text: string) => promise(() => page.page.getByRole("spinbutton", { name }).fill(text))
    const said = (text: string) => promise(() => page.page.getByText(text).waitFor())
    yield* promise(() => lifetimes().fill("20"))
    yield* said("lifetime of new tokens, in seconds: 20.")
    yield* fill("latency of search", "30")
    yield* said("latency of search, in ms: 30.")
    const headers = yield* page.exchange
    yield* promise(() => page.page.getByRole("combobox", { name: "operation" }).selectOption("search"))
    yield* promise(() => page.page.getByRole("combobox", { name: "fault" }).selectOption("unavailable"))
    yield* fill("times", "1")
    yield* promise(() => page.page.getByRole("button", { name: "Provoke" }).click())
    yield* said("the next search calls (1) get the fault unavailable.")
    const statuses = [(yield* search(page, headers))?.status, (yield* search(page, headers))?.status]
    yield* fill("times", "")
    yield* promise(() => page.page.getByRole("button", { name: "Provoke" }).click())
    yield* said("every search call gets the fault unavailable.")
    statuses.push((yield* search(page, headers))?.status, (yield* search(page, headers))?.status)
    yield* promise(() => page.page.getByRole("button", { name: "Recover" }).click())
    yield* said("no fault is on.")
    statuses.push((yield* search(page, headers))?.status)
    yield* promise(() => page.page.getByRole("button", { name: "Revoke all tokens" }).click())
    yield* said("all tokens are revoked.")
    statuses.push((yield* search(page, headers))?.status)
    expect(statuses).toEqual([503, 200, 503, 503, 200, 403])
    yield* eventually(async () =>
      /1 ?exchanges.*6 ?searches.*1 ?rejected tokens/s.test(
        (await page.page.locator("#counters").innerText()).replaceAll(/\s+/g, " ").replace(/^/, "")
      ) || (await page.page.locator("[data-counter=rejections]").innerText()) === "1"
    )
    const [token] = (yield* page.seen).filter((event) => "expiresAt" in event)
    expect(Number(token?.["expiresAt"]) - Number(token?.["receivedAt"])).toBe(20_000)
    const durations = (yield* page.seen).filter((event) => event["operation"] === "search").map((event) =>
      event["duration"]
    )
    expect(Math.min(...durations.map(Number))).toBeGreaterThanOrEqual(29)
    expectNoComplaint(page)
  })

  const stateOf = ({ page }: Page.Page) => page.getByRole("status", { name: "State" }).innerText()

  onPage(
    "simulator page: opened after 1,000 calls, it shows the current token and the active fault",
    function*(page) {
      const headers = yield* page.exchange
      yield* Effect.replicateEffect(search(page, headers), 1_001, { concurrency: 50 })
      yield* page.service.provoke("search", "unavailable")
      yield* page.service.provoke("token", "hang", 2)
      yield* promise(() => page.page.reload())
      yield* eventually(async () => (await page.page.locator(".mark.bar").count()) === 1)
      yield* eventually(async () =>
        /#1 for 23\.9 h\s+faults on\s+token: hang, next 2; search: unavailable, every call/.test(await stateOf(page))
      )
      expectNoComplaint(page)
    }
  )

  onPage("simulator page: a fault that another viewer starts is shown until it ends", function*(page) {
    yield* page.service.provoke("request", "drop", 3)
    yield* eventually(async () => (await stateOf(page)).includes("request: drop, next 3"))
    yield* page.service.recover
    yield* eventually(async () => /faults on\s+none/.test(await stateOf(page)))
  })

  onPage("simulator page: during a load test, no call is lost and the document stays small", function*(page) {
    yield* promise(() => page.page.getByRole("button", { name: "Table" }).click())
    const storm = Effect.all(Array.from({ length: 50 }, () => page.send("/v2/plan")), { concurrency: "unbounded" })
    yield* Effect.repeatN(storm, 99)
    yield* eventually(async () => (await page.page.locator("caption").innerText()).endsWith("of 5000"))
    expect(yield* promise(() => page.page.locator("tbody tr").count())).toBe(300)
    expect(yield* promise(() => page.page.locator("svg *").count())).toBeLessThan(2_000)
    expect(yield* promise(() => page.page.getByText("Live", { exact: true }).isVisible())).toBe(true)
    expect(page.complaints).toEqual([])
  })

  onPage("simulator page: it reconnects after a dropped connection and when one of 64 viewers leaves", function*(page) {
    yield* search(page)
    yield* page.breakConnections
    yield* promise(() => page.page.getByText("Trying again").waitFor())
    const others = yield* Effect.replicateEffect(page.watch(), 64)
    yield* search(page)
    yield* promise(() => page.page.waitForTimeout(3_000))
    for (const other of others) other.leave()
    yield* promise(() => page.page.getByText("Live", { exact: true }).waitFor())
    yield* hasMarks(page, 2)
  })

  for (const colorScheme of ["light", "dark"] as const) {
    testLive(`simulator page: it fits a width of 400 pixels in ${colorScheme} mode`, function*() {
      const page = yield* Page.open(browser, { colorScheme, width: 400 })
      yield* search(page, yield* page.exchange)
      yield* press(page, "Table")
      yield* hasMarks(page, 3)
      expect(yield* promise(() => page.page.evaluate("document.documentElement.scrollWidth"))).toBe(400)
    })
  }

  onPage("simulator page: the time span grows with the calls until the user selects one", function*(page) {
    const minutes = () => page.page.locator("[name=minutes]:checked").getAttribute("value")
    const later = (minutes: number) => promise(() => page.page.clock.setFixedTime(Date.now() + minutes * 60_000))
    yield* search(page)
    yield* hasMarks(page, 1)
    expect(yield* promise(minutes)).toBe("1")
    yield* later(2)
    yield* eventually(async () => (await minutes()) === "5")
    yield* promise(() => page.page.getByText("1 min", { exact: true }).click())
    yield* later(3)
    yield* promise(() => page.page.waitForTimeout(600))
    expect(yield* promise(minutes)).toBe("1")
  })

  onPage("simulator page: settings are not truncated, and lines don't cross row names", function*(page) {
    const isWhole =
      "(({ clientWidth, scrollWidth }) => scrollWidth <= clientWidth)(document.querySelector('#variables'))"
    expect(yield* promise(() => page.page.evaluate(isWhole))).toBe(true)
    const box = (selector: string) => promise(() => page.page.locator(selector).first().boundingBox())
    const name = yield* promise(() => page.page.getByText("no response", { exact: true }).boundingBox())
    const line = yield* box("#timeline line")
    expect(line?.x).toBeGreaterThanOrEqual((name?.x ?? 0) + (name?.width ?? Infinity))
  })
})

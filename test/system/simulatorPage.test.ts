import { spawn } from "node:child_process"
import { readFileSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "@effect/vitest"
import axe from "axe-core"
import { Effect, Exit, Layer, Scope } from "effect"
import type { Browser } from "playwright-core"
import { afterAll, beforeAll } from "vitest"
import { arrangedLive, testLive } from "../doubles/arranged.js"
import { searchPath, tokenPath } from "../doubles/WatchedSimulator.js"
import { meetSecrets, options, shownIn } from "../leaks/watched.js"
import { programsOf } from "../readme/importBlock.js"
import * as Chromium from "./browser/Chromium.js"
import * as Program from "./Program.js"
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

describe.skipIf(Chromium.executable === undefined)("the page", () => {
  onPage("says where a client is pointed while there is no call, and never shows a key", function*(page) {
    const text = yield* promise(() => page.page.locator("body").innerText())
    expect(text).toContain(`Point your client here: ${page.url}`)
    expect(text).toContain(`NUTRITION_ADVISOR_BASE_URL=${page.url}\nNUTRITION_ADVISOR_LICENSE_KEY=\n`)
    expect(text).toMatch(/The key was named, or given, when the simulator was started/)
    expect(yield* promise(() => page.page.content())).not.toContain("demo-key")
    expectNoComplaint(page)
  })

  onPage(
    "has a mark for each call, by operation, status and fault, and a bar for each token, cut at its revocation",
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

  onPage("tells what a mark was: by mouse, and by keyboard from mark to mark", function*(page) {
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
    const press = (...keys: ReadonlyArray<string>) =>
      promise(async () => {
        for (const key of keys) await page.page.keyboard.press(key)
      })
    yield* press("ArrowUp")
    yield* says(/status 200 .*token #1 fault none/)
    yield* press("ArrowUp")
    yield* says(/token #1 received \S+ lifetime 23\.9 h end/)
    yield* press("ArrowUp")
    yield* says(/operation exchange route POST \S+\{key\} status 200 .*token none/)
    yield* promise(() => page.page.getByRole("button", { name: "Table" }).focus())
    yield* press("Tab", "End", "ArrowDown")
    yield* says(/token #1 received/)
    expectNoComplaint(page)
  })

  onPage("has the same calls in a table, the newest first", function*(page) {
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

  onPage("holds the picture while it is paused, and shows what came meanwhile afterwards", function*(page) {
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

  /** A quarter of an hour later the window has another size, and the picture is drawn anew. */
  const resizeLater = ({ page }: Page.Page) =>
    promise(async () => {
      await page.clock.setFixedTime(Date.now() + 16 * 60_000)
      await page.waitForTimeout(1_000)
      await page.setViewportSize({ width: 1100, height: 900 })
      await page.waitForTimeout(500)
    })

  onPage(
    "holds the picture, its tokens and its table for however long it is paused, whatever comes and is drawn anew meanwhile",
    function*(page) {
      const headers = yield* page.exchange
      yield* search(page, headers)
      yield* hasMarks(page, 3)
      yield* press(page, "Pause")
      const labels = Effect.map(page.marks, (marks) => marks.map(({ label }) => label).sort())
      const before = yield* labels
      yield* page.service.revoke
      yield* Effect.all(Array.from({ length: 310 }, () => search(page, headers)), { concurrency: 10 })
      yield* page.exchange
      yield* resizeLater(page)
      expect(yield* labels).toEqual(before)
      yield* promise(() => page.page.locator(".mark.bar").click())
      const picked = yield* promise(() => page.page.getByRole("region", { name: "Picked mark" }).innerText())
      expect(picked).not.toContain("revoked")
      yield* press(page, "Table")
      expect((yield* rowsOf(page)).map(({ operation, status }) => `${operation} ${status}`)).toEqual([
        "search 200",
        "exchange 200"
      ])
      expect(yield* promise(() => page.page.locator("caption").innerText())).toBe("The newest 2 calls of 2")
      expectNoComplaint(page)
    }
  )

  onPage("forgets what it held once it goes on, and shows that a token was revoked meanwhile", function*(page) {
    yield* page.exchange
    yield* hasMarks(page, 2)
    yield* press(page, "Pause")
    yield* page.service.revoke
    yield* resizeLater(page)
    yield* promise(() => page.page.clock.setFixedTime(Date.now()))
    yield* press(page, "Pause")
    yield* eventually(async () =>
      /revoked at/.test(await page.page.locator(".mark.bar").getAttribute("aria-label") ?? "")
    )
    yield* resizeLater(page)
    yield* hasMarks(page, 0)
    yield* press(page, "Table")
    yield* eventually(async () => (await page.page.locator("caption").innerText()) === "The newest 0 calls of 0")
  })

  onPage("controls the simulator, and shows its counters", function*(page) {
    const lifetimes = () => page.page.getByRole("spinbutton", { name: "lifetime" })
    const fill = (name: string, text: string) => promise(() => page.page.getByRole("spinbutton", { name }).fill(text))
    const said = (text: string) => promise(() => page.page.getByText(text).waitFor())
    yield* promise(() => lifetimes().fill("20"))
    yield* said("lifetime of the next ones, in seconds: 20.")
    yield* fill("latency of search", "30")
    yield* said("latency of search, in ms: 30.")
    const headers = yield* page.exchange
    yield* promise(() => page.page.getByRole("combobox", { name: "operation" }).selectOption("search"))
    yield* promise(() => page.page.getByRole("combobox", { name: "fault" }).selectOption("unavailable"))
    yield* fill("times", "1")
    yield* promise(() => page.page.getByRole("button", { name: "Provoke" }).click())
    yield* said("search calls, the next 1, will meet unavailable.")
    const statuses = [(yield* search(page, headers))?.status, (yield* search(page, headers))?.status]
    yield* fill("times", "")
    yield* promise(() => page.page.getByRole("button", { name: "Provoke" }).click())
    yield* said("each search call will meet unavailable.")
    statuses.push((yield* search(page, headers))?.status, (yield* search(page, headers))?.status)
    yield* promise(() => page.page.getByRole("button", { name: "Recover" }).click())
    yield* said("no fault is left.")
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

  onPage("stays small and keeps every call in a storm of them", function*(page) {
    yield* promise(() => page.page.getByRole("button", { name: "Table" }).click())
    const storm = Effect.all(Array.from({ length: 50 }, () => page.send("/v2/plan")), { concurrency: "unbounded" })
    yield* Effect.repeatN(storm, 99)
    yield* eventually(async () => (await page.page.locator("caption").innerText()).endsWith("of 5000"))
    expect(yield* promise(() => page.page.locator("tbody tr").count())).toBe(300)
    expect(yield* promise(() => page.page.locator("svg *").count())).toBeLessThan(2_000)
    expect(yield* promise(() => page.page.getByText("Live", { exact: true }).isVisible())).toBe(true)
    expect(page.complaints).toEqual([])
  })

  testLive("shows no marker secret, in its marks, its table or what it says", function*() {
    const page = yield* Page.open(browser, {}, options)
    yield* promise(() => page.page.getByRole("button", { name: "Table" }).click())
    const own = yield* meetSecrets(page)
    yield* eventually(async () => (await page.page.locator("tbody tr").count()) > 50)
    yield* promise(() => page.page.locator(".mark.wrong").last().click())
    const content = yield* promise(() => page.page.content())
    expect(content).toContain("{token}")
    expect(shownIn(content, own)).toEqual([])
    expectNoComplaint(page)
  })

  onPage("goes on by itself where its connection breaks, or where there are 64 viewers already", function*(page) {
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
    testLive(`has no serious fault of accessibility, in ${colorScheme}, and fits 400 pixels`, function*() {
      const page = yield* Page.open(browser, { colorScheme, width: 400 })
      const serious = promise(async () => {
        await page.page.evaluate(axe.source)
        const { violations }: axe.AxeResults = await page.page.evaluate("axe.run()")
        return violations.filter(({ impact }) => impact === "serious" || impact === "critical").map((
          { help, nodes }
        ) => ({
          help,
          nodes: nodes.map(({ html }) => html)
        }))
      })
      expect(yield* serious).toEqual([])
      const headers = yield* page.exchange
      yield* search(page, headers)
      yield* page.service.revoke
      yield* search(page, headers)
      yield* promise(() => page.page.getByRole("button", { name: "Table" }).click())
      yield* promise(() => page.page.getByRole("button", { name: "Pause" }).click())
      yield* promise(() => page.page.getByRole("button", { name: "search, status 403" }).click())
      expect(yield* serious).toEqual([])
      expect(yield* promise(() => page.page.evaluate("document.documentElement.scrollWidth"))).toBe(400)
    })
  }
})

const document = readFileSync(join(Program.repository, "docs/see-it.md"), "utf8")

interface Scene {
  readonly title: string
  /** Each list of steps; what is seen stands behind the first. */
  readonly lists: ReadonlyArray<ReadonlyArray<string>>
}

const scenes: ReadonlyArray<Scene> = document.split("\n## ").slice(1).map((section) => ({
  title: section.split("\n")[0] ?? "",
  lists: Array.from(
    section.matchAll(/(?:^\d+\. .*\n)+/gm),
    ([list]) => list.trim().split("\n").map((step) => step.replace(/^\d+\. /, ""))
  )
}))

const play = async ({ page }: Page.Page, step: string): Promise<unknown> => {
  const [, button = ""] = /^Click \*\*(.+)\*\*\.$/.exec(step) ?? []
  const [, option = "", select = ""] = /^Choose `(.+)` in \*\*(.+)\*\*\.$/.exec(step) ?? []
  const [, text = "", input = ""] = /^Type `(.+)` in \*\*(.+)\*\*\.$/.exec(step) ?? []
  const [, seconds = ""] = /^Wait (\d+) seconds\.$/.exec(step) ?? []
  if (/^\d+ min$/.test(button)) return page.getByText(button, { exact: true }).click()
  if (button !== "") return page.getByRole("button", { name: button, exact: true }).click()
  if (select !== "") return page.getByRole("combobox", { name: select }).selectOption(option)
  if (input !== "") {
    await page.getByRole("spinbutton", { name: input }).fill(text)
    return page.getByRole("spinbutton", { name: input }).press("Enter")
  }
  if (seconds !== "") return page.waitForTimeout(Number(seconds) * 1_000)
  throw new Error(`nobody can play: ${step}`)
}

/** The client of the document, which finds this simulator where it expects its own. */
const startClient = (url: string) =>
  Effect.gen(function*() {
    const [program, ...others] = programsOf("docs/see-it.md")
    expect(others).toEqual([])
    const folder = yield* Program.folder
    symlinkSync(join(Program.repository, "node_modules"), join(folder, "node_modules"), "junction")
    writeFileSync(join(folder, "client.mts"), program?.code.replace("http://127.0.0.1:8787", url) ?? "")
    yield* Effect.acquireRelease(
      Effect.sync(() =>
        spawn(process.execPath, ["--import", "tsx", join(folder, "client.mts")], {
          cwd: Program.repository,
          env: { ...process.env, TSX_TSCONFIG_PATH: join(Program.repository, "tsconfig.json") },
          stdio: ["ignore", "ignore", "inherit"]
        })
      ),
      (client) => Effect.sync(() => client.kill("SIGKILL"))
    )
  })

const gapsIn = (marks: ReadonlyArray<Page.Mark>) => marks.slice(1).map(({ x }, index) => x - (marks[index]?.x ?? 0))

const exchangesIn = (marks: ReadonlyArray<Page.Mark>) => marks.filter(({ label }) => /^(\d+ × )?exchange/.test(label))

const sinceTime = (started: string, marks: ReadonlyArray<Page.Mark>) =>
  marks.filter(({ label }) => label.slice(-started.length) >= started)

/** What each scene shows, by its title; it began at the time of day that the marks are labeled with. */
const shown: Readonly<Record<string, (page: Page.Page, started: string) => Effect.Effect<unknown>>> = {
  "A revocation": (page, started) =>
    Effect.gen(function*() {
      const rejected = (marks: ReadonlyArray<Page.Mark>) => marks.filter(({ kind }) => kind === "wrong").length
      yield* eventually(async () => rejected(await Effect.runPromise(page.marks)) > 0)
      yield* promise(() => page.page.waitForTimeout(1_500))
      const marks = yield* page.marks
      expect(sinceTime(started, exchangesIn(marks))).toHaveLength(1)
      expect(marks.filter(({ label }) => /^token 1, .* revoked at/.test(label))).toHaveLength(1)
      yield* promise(() => page.page.getByRole("button", { name: "Table" }).click())
      const rows = yield* rowsOf(page)
      const repeated = rows.length - 1 - rows.findLastIndex(({ token }) => token === "#2")
      const refused = rows.filter(({ status }) => status === "403")
      expect(refused.length).toBeGreaterThan(0)
      expect(refused.length).toBeLessThanOrEqual(4)
      expect(refused.every(({ token }) => token === "#1")).toBe(true)
      expect(repeated).toBeGreaterThan(0)
    }),
  "A 403 that no new token helps against": (page, started) =>
    Effect.gen(function*() {
      const renewals = sinceTime(started, exchangesIn(yield* page.marks))
      const [first = 0, second = 0] = gapsIn(renewals).slice(-2)
      expect(renewals.length).toBeLessThan(5)
      expect(first).toBeGreaterThan(70)
      expect(second / first).toBeGreaterThan(1.6)
    }),
  "A token route that fails": (page) =>
    Effect.gen(function*() {
      expect(exchangesIn(yield* page.marks).filter(({ kind }) => kind === "fault").length).toBeGreaterThan(5)
      const failed = (yield* page.seen).filter(({ fault, operation }) => operation === "token" && fault !== null)
      const times = failed.map(({ at }) => Number(at))
      const pauses = times.flatMap((at, index) => index > 0 && index % 3 === 0 ? [at - (times[index - 1] ?? 0)] : [])
      expect(pauses.length).toBeGreaterThan(2)
      expect(pauses).toEqual(pauses.toSorted((one, other) => one - other))
      expect(pauses.at(-1)).toBeGreaterThan(2 * (pauses[0] ?? 0))
    }),
  "A refresh before the end": (page) =>
    Effect.gen(function*() {
      const marks = yield* page.marks
      const [last, next] = marks.filter(({ kind }) => kind === "bar").slice(-2)
      expect(last?.label).toMatch(/ends at/)
      expect(next?.x).toBeLessThan((last?.x ?? 0) + (last?.width ?? 0))
      expect(next?.x).toBeGreaterThan((last?.x ?? 0) + 0.8 * (last?.width ?? 0))
      const [refused] = marks.filter(({ kind }) => kind === "wrong").slice(-1)
      expect(refused?.x).toBeLessThan((last?.x ?? 0) + 30)
    })
}

describe.skipIf(Chromium.executable === undefined)("docs/see-it.md", () => {
  it.scopedLive("shows what it says, step by step", () =>
    Effect.gen(function*() {
      expect(scenes.map(({ title }) => title)).toEqual(Object.keys(shown))
      const page = yield* Page.open(browser)
      yield* startClient(page.url)
      yield* eventually(async () => (await page.page.locator(".mark").count()) > 8, 60_000)
      for (const { lists: [first = [], ...others], title } of scenes) {
        const started = new Date().toTimeString().slice(0, 8)
        for (const step of first) yield* promise(() => play(page, step))
        yield* shown[title]?.(page, started) ?? Effect.dieMessage(title)
        for (const step of others.flat()) yield* promise(() => play(page, step))
        yield* eventually(async () => (await Effect.runPromise(rowsOf(page)))[0]?.status === "200")
        yield* promise(() => page.page.waitForTimeout(2_000))
      }
      expectNoComplaint(page)
    }))
})

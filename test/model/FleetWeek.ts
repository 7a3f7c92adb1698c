/**
 * A week of a fleet that shares a token, as a discrete-event model: what replicas, cache and service do to each other, without
 * HTTP, sealing and fibers. When a token is stale or expired, and when the Schedule wakes, is the library's own arithmetic.
 */
import { setImmediate } from "node:timers/promises"
import { RefreshPolicy } from "effect-nutrition-advisor"
import { policyOf } from "../doubles/policy.js"
import { seeded } from "../doubles/runtime.js"
import * as Agenda from "./Agenda.js"

export interface Settings {
  readonly seed: number
  readonly replicas: number
  readonly days: number
  /** Milliseconds. */
  readonly tokenLife: number
  readonly revocationsPerDay: number
  readonly restartsPerReplicaAndDay: number
  /** Replicas that end in the middle of an exchange, each taking its lease with it. */
  readonly lostHoldersPerDay: number
  readonly isShared: boolean
}

export interface Day {
  exchanges: number
  revocations: number
  lostHolders: number
  restarts: number
}

interface Token extends RefreshPolicy.Lifetime {
  readonly id: number
}

interface Replica {
  /** Counts restarts: what was planned for an earlier life is void. */
  life: number
  token: Token | undefined
  /** Milliseconds between two searches, on average. */
  readonly gap: number
  isAsking: boolean
}

type Event =
  | {
    readonly _tag: "Search" | "Refresh" | "Ask"
    readonly replica: number
    readonly life: number
    readonly about?: Token
  }
  | { readonly _tag: "Exchanged"; readonly replica: number; readonly life: number }
  | { readonly _tag: "Revoke" | "LeaseEnds" | "LoseNextHolder" }
  | { readonly _tag: "Restart"; readonly replica: number }

export const day = 86_400_000

const lease = 15_000

/** What the network takes from one replica to the cache and on to another, in milliseconds. */
const notice = 50

const timing = policyOf()

/** A week takes a minute on a busy machine: other messages of its process pass in between. */
export const run = async (settings: Settings): Promise<ReadonlyArray<Day>> => {
  const { replicas: count, tokenLife } = settings
  const end = settings.days * day
  const random = seeded(String(settings.seed)).next
  const within = (least: number, most: number) => least + random() * (most - least)
  const after = (mean: number) => -Math.log(1 - random()) * mean
  const agenda = Agenda.make<Event>()
  const days: ReadonlyArray<Day> = Array.from(
    { length: settings.days },
    () => ({ exchanges: 0, revocations: 0, lostHolders: 0, restarts: 0 })
  )
  const replicas: ReadonlyArray<Replica> = Array.from(
    { length: count },
    () => ({ life: 0, token: undefined, gap: within(1_000, 120_000), isAsking: false })
  )
  let now = 0
  let lastId = 0
  let oldestAccepted = 1
  let isNextHolderLost = false
  let entry: Token | undefined
  let holder: { readonly replica: number; readonly life: number; readonly until: number } | undefined
  const waiting = new Set<number>()

  const today = () => days[Math.min(settings.days - 1, Math.floor(now / day))] as Day
  const isAccepted = (token: Token) => token.id >= oldestAccepted && now < token.expiresAt
  const staleAt = (token: Token) => token.expiresAt - RefreshPolicy.windowOf(timing, token)
  const isExpired = (token: Token) => now >= token.expiresAt - RefreshPolicy.marginOf(timing, token)

  const plan = (index: number, replica: Replica, token: Token) => {
    const window = RefreshPolicy.windowOf(timing, token)
    const wakes = staleAt(token) + random() * window / 2
    const searches = Math.max(now, staleAt(token)) + after(replica.gap)
    agenda.add(Math.min(wakes, searches), { _tag: "Refresh", replica: index, life: replica.life, about: token })
    if (!isAccepted(token)) agenda.add(now, { _tag: "Search", replica: index, life: replica.life, about: token })
  }

  const receive = (index: number, replica: Replica, token: Token) => {
    replica.isAsking = false
    replica.token = token
    plan(index, replica, token)
  }

  const exchange = (index: number, replica: Replica) => {
    today().exchanges += 1
    if (isNextHolderLost) {
      isNextHolderLost = false
      restart(index, replica)
    } else {
      agenda.add(now + within(100, 2_000), { _tag: "Exchanged", replica: index, life: replica.life })
    }
  }

  const ask = (index: number, replica: Replica, replacing: Token | undefined) => {
    replica.isAsking = true
    if (!settings.isShared) return exchange(index, replica)
    if (replacing !== undefined && entry?.id === replacing.id && !isAccepted(replacing)) entry = undefined
    const isNext = entry !== undefined && !isExpired(entry) && entry.id !== replacing?.id &&
      entry.receivedAt >= (replacing?.receivedAt ?? 0)
    if (entry !== undefined && isNext) {
      receive(index, replica, entry)
    } else if (holder === undefined || now >= holder.until) {
      holder = { replica: index, life: replica.life, until: now + lease }
      agenda.add(holder.until, { _tag: "LeaseEnds" })
      exchange(index, replica)
    } else {
      waiting.add(index)
    }
  }

  const wakeWaiting = () => {
    for (const index of waiting) {
      const { life } = replicas[index] as Replica
      agenda.add(now + within(0, notice), { _tag: "Ask", replica: index, life })
    }
    waiting.clear()
  }

  const restart = (index: number, replica: Replica) => {
    today().restarts += 1
    if (holder?.replica === index && holder.life === replica.life) today().lostHolders += 1
    replica.life += 1
    replica.token = undefined
    replica.isAsking = false
    waiting.delete(index)
    agenda.add(now + after(replica.gap), { _tag: "Search", replica: index, life: replica.life })
  }

  const happen = (event: Event) => {
    switch (event._tag) {
      case "Revoke": {
        today().revocations += 1
        oldestAccepted = lastId + 1
        replicas.forEach((replica, index) => {
          if (replica.token === undefined) return
          const { life, token } = replica
          agenda.add(now + after(replica.gap), { _tag: "Search", replica: index, life, about: token })
        })
        return
      }
      case "LeaseEnds":
        return holder !== undefined && now >= holder.until ? wakeWaiting() : undefined
      case "LoseNextHolder":
        isNextHolderLost = true
        return
    }
    const replica = replicas[event.replica] as Replica
    if (event._tag === "Restart") return restart(event.replica, replica)
    if (event.life !== replica.life) return
    switch (event._tag) {
      case "Ask":
        return ask(event.replica, replica, replica.token)
      case "Search":
        return !replica.isAsking && replica.token === event.about &&
            (event.about === undefined || !isAccepted(event.about))
          ? ask(event.replica, replica, replica.token)
          : undefined
      case "Refresh":
        return !replica.isAsking && replica.token === event.about
          ? ask(event.replica, replica, replica.token)
          : undefined
      case "Exchanged": {
        const token = { id: lastId += 1, receivedAt: now, expiresAt: now + tokenLife }
        if (settings.isShared && holder?.replica === event.replica && holder.life === event.life) {
          entry = token
          holder = undefined
          wakeWaiting()
        }
        return receive(event.replica, replica, token)
      }
    }
  }

  const often = (perDay: number, event: () => Event) => {
    if (perDay === 0) return
    for (let at = after(day / perDay); at < end; at += after(day / perDay)) agenda.add(at, event())
  }

  replicas.forEach((_, index) => agenda.add(within(0, 1_000), { _tag: "Search", replica: index, life: 0 }))
  often(settings.revocationsPerDay, () => ({ _tag: "Revoke" }))
  often(settings.lostHoldersPerDay, () => ({ _tag: "LoseNextHolder" }))
  often(
    settings.restartsPerReplicaAndDay * count,
    () => ({ _tag: "Restart", replica: Math.floor(random() * count) })
  )
  let events = 0
  for (let next = agenda.next(); next !== undefined && next[0] < end; next = agenda.next()) {
    now = next[0]
    happen(next[1])
    events += 1
    if (events % 50_000 === 0) await setImmediate()
  }
  return days
}

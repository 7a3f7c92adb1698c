/** The service of a fleet: a token route that can be down or hang, tokens that can be revoked, and searches. */
import { Clock, Effect, Redacted } from "effect"
import { AccessToken, NutritionAdvisorError, type TokenIssuer } from "effect-nutrition-advisor"
import type { VirtualTime } from "../../support/model/VirtualTime.js"

interface Issued {
  readonly diesAt: number
  revokedAt: number
}

const searchMillis = 20

const serverError = new NutritionAdvisorError.ServerError({ operation: "token", status: 503 })

export class FleetService {
  /** When each exchange began. */
  readonly exchanges: Array<number> = []
  /** Exchanges that have not ended. */
  running = 0
  tokenMillis = 1_000
  route: "up" | "down" | "hangs" = "up"
  /** When the route was not up for the last time. */
  lastTrouble = Number.NEGATIVE_INFINITY
  private readonly tokens = new Map<string, Issued>()

  constructor(private readonly time: VirtualTime, readonly life: number) {}

  /** With the clock of the replica that calls it. */
  readonly issuer: TokenIssuer.Service = {
    issue: () =>
      Effect.gen(this, function*() {
        this.exchanges.push(this.time.now)
        this.running += 1
        if (this.route === "hangs") yield* Effect.never
        yield* Effect.sleep(this.tokenMillis)
        if (this.route !== "up") return yield* serverError
        const value = `token-${this.tokens.size + 1}`
        this.tokens.set(value, { diesAt: this.time.now + this.life, revokedAt: Number.POSITIVE_INFINITY })
        const receivedAt = yield* Clock.currentTimeMillis
        return AccessToken.make({ value, serviceId: "customer", receivedAt, expiresAt: receivedAt + this.life })
      }).pipe(Effect.ensuring(Effect.sync(() => {
        this.running -= 1
      })))
  }

  revoke() {
    for (const token of this.tokens.values()) token.revokedAt = Math.min(token.revokedAt, this.time.now)
  }

  setRoute(route: FleetService["route"]) {
    if (this.route !== "up") this.lastTrouble = this.time.now
    this.route = route
  }

  readonly accepts = (token: AccessToken.AccessToken): Effect.Effect<boolean> =>
    Effect.map(Effect.sleep(searchMillis), () => {
      const issued = this.tokens.get(Redacted.value(token.value))
      return issued !== undefined && this.time.now < issued.revokedAt && this.time.now < issued.diesAt
    })
}

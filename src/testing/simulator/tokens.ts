import type { Options, State } from "../Simulator.js"

/** The license key that the simulator accepts by default. */
export const demoKey = "demo-key-7f3a"

export interface IssuedToken {
  /** From 1, in the order of issue. */
  readonly number: number
  /** The license key of its exchange. */
  readonly key: string
  readonly value: string
  readonly customerId: string
  /** Epoch milliseconds. */
  readonly receivedAt: number
  /** Epoch milliseconds. */
  readonly expiresAt: number
  isRevoked: boolean
}

/** Whether the service accepts the token at this time. */
export const isAccepted = ({ expiresAt, isRevoked }: IssuedToken, now: number) => !isRevoked && expiresAt > now

/** What the controls and the page show of a token. */
export const shownToken = ({ expiresAt, number, receivedAt }: IssuedToken): State["tokens"][number] => ({
  token: number,
  receivedAt,
  expiresAt: Math.floor(expiresAt)
})

export class Tokens {
  /** Whether an exchange returns the token that is still valid. */
  handsBackValid = false
  /** The identifiers of all tokens, and of the next one. They are hidden in what the simulator records. */
  readonly customerIds = new Set<string>()
  /** By value, in the order of issue. */
  readonly issued = new Map<string, IssuedToken>()

  readonly licenseKeys: ReadonlySet<string>
  /** Seconds. */
  lifetime: number
  private customerId = ""

  /** `series` is a part of each token. `onIssued` is called with each new token. */
  constructor(
    { customerId, licenseKeys, tokenLifetime }: Options,
    readonly series: string,
    private readonly onIssued: (token: IssuedToken) => void
  ) {
    this.licenseKeys = new Set(licenseKeys ?? [demoKey])
    this.lifetime = tokenLifetime ?? 86_155.482
    this.setCustomerId(customerId ?? "3f2b8c1e-5a47-4d0e-9b6c-2d1f7e8a9c00")
  }

  setCustomerId(customerId: string) {
    this.customerId = customerId
    this.customerIds.add(customerId)
  }

  /** Returns a new or an earlier token. With `repeatsToken`, it returns the last one, even if that was revoked. */
  exchange(key: string, now: number, repeatsToken: boolean): IssuedToken {
    const earlier = repeatsToken || this.handsBackValid
      ? [...this.issued.values()].findLast((token) =>
        token.key === key && (repeatsToken ? token.expiresAt > now : isAccepted(token, now))
      )
      : undefined
    return earlier ?? this.issue(key, now)
  }

  /** The tokens that have neither expired nor been revoked, oldest first. */
  accepted(now: number): ReadonlyArray<IssuedToken> {
    return [...this.issued.values()].filter((token) => isAccepted(token, now))
  }

  /** Revokes all accepted tokens, and returns their numbers. */
  revoke(now: number): ReadonlyArray<number> {
    const revoked = this.accepted(now)
    for (const token of revoked) token.isRevoked = true
    return revoked.map(({ number }) => number)
  }

  private issue(key: string, now: number): IssuedToken {
    const number = this.issued.size + 1
    const token = {
      number,
      key,
      value: `${this.series}-${[...this.licenseKeys].indexOf(key) + 1}-${number}`,
      customerId: this.customerId,
      receivedAt: now,
      expiresAt: now + this.lifetime * 1000,
      isRevoked: false
    }
    this.issued.set(token.value, token)
    this.onIssued(token)
    return token
  }
}

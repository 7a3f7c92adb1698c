export interface IssuedToken {
  /** From 1, in the order of issue. */
  readonly number: number
  readonly key: string
  readonly value: string
  readonly customerId: string
  /** Epoch milliseconds. */
  readonly expiresAt: number
}

/** The tokens that the simulated service has issued, and those of them that it accepts. */
export class SimulatorTokens {
  /** How many were new. */
  issuedCount = 0
  /** Whether an exchange hands back the token that is still valid. */
  handsBackValid = false
  /** Told of each token that is new. */
  onIssued: (token: IssuedToken, now: number) => void = () => {}
  private readonly accepted = new Map<string, IssuedToken>()
  private readonly numbers = new Map<string, number>()
  private readonly lastOf = new Map<string, IssuedToken>()

  /** Those of all tokens, and the one of the next. */
  readonly customerIds = new Set<string>()

  /** `series` is a part of each token, and `lifetime` is in seconds. */
  constructor(
    readonly licenseKeys: ReadonlySet<string>,
    readonly series: string,
    public lifetime: number,
    private customerId: string
  ) {
    this.setCustomerId(customerId)
  }

  setCustomerId(customerId: string) {
    this.customerId = customerId
    this.customerIds.add(customerId)
  }

  /** A new token, or an earlier one that is handed back: `revokedToo` hands back the last one even where it was revoked. */
  exchange(key: string, now: number, revokedToo: boolean): IssuedToken {
    const earlier = revokedToo
      ? this.lastOf.get(key)
      : this.handsBackValid
      ? [...this.accepted.values()].findLast((token) => token.key === key && token.expiresAt > now)
      : undefined
    return earlier !== undefined && earlier.expiresAt > now ? earlier : this.issue(key, now)
  }

  /** The token of this text, if it is accepted. */
  find(value: string, now: number): IssuedToken | undefined {
    const token = this.accepted.get(value)
    return token === undefined || token.expiresAt <= now ? undefined : token
  }

  /** The number of the token of this text, accepted or not. */
  numberOf(value: string): number | undefined {
    return this.numbers.get(value)
  }

  /** The numbers of those that were accepted until now. */
  revoke(now: number): ReadonlyArray<number> {
    const revoked = [...this.accepted.values()].flatMap((token) => token.expiresAt > now ? [token.number] : [])
    this.accepted.clear()
    return revoked
  }

  private issue(key: string, now: number): IssuedToken {
    this.issuedCount += 1
    const token = {
      number: this.issuedCount,
      key,
      value: `${this.series}-${[...this.licenseKeys].indexOf(key) + 1}-${this.issuedCount}`,
      customerId: this.customerId,
      expiresAt: now + this.lifetime * 1000
    }
    this.accepted.set(token.value, token)
    this.numbers.set(token.value, token.number)
    this.lastOf.set(key, token)
    this.onIssued(token, now)
    return token
  }
}

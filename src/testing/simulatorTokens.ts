interface IssuedToken {
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
  private readonly accepted = new Map<string, IssuedToken>()
  private readonly lastOf = new Map<string, IssuedToken>()

  /** `series` is a part of each token, and `lifetime` is in seconds. */
  constructor(
    readonly licenseKeys: ReadonlySet<string>,
    private readonly series: string,
    public lifetime: number,
    public customerId: string
  ) {}

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

  revoke() {
    this.accepted.clear()
  }

  private issue(key: string, now: number): IssuedToken {
    this.issuedCount += 1
    const token = {
      key,
      value: `${this.series}-${[...this.licenseKeys].indexOf(key) + 1}-${this.issuedCount}`,
      customerId: this.customerId,
      expiresAt: now + this.lifetime * 1000
    }
    this.accepted.set(token.value, token)
    this.lastOf.set(key, token)
    return token
  }
}

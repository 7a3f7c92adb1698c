export interface IssuedToken {
  /** From 1, in the order of issue. */
  readonly number: number
  readonly key: string
  readonly value: string
  readonly customerId: string
  /** Epoch milliseconds. */
  readonly expiresAt: number
  isRevoked: boolean
}

const isAccepted = ({ expiresAt, isRevoked }: IssuedToken, now: number) => !isRevoked && expiresAt > now

/** The tokens that the simulated service has issued. */
export class SimulatorTokens {
  /** Whether an exchange hands back the token that is still valid. */
  handsBackValid = false
  /** Told of each token that is new. */
  onIssued: (token: IssuedToken, now: number) => void = () => {}
  /** Those of all tokens, and the one of the next. */
  readonly customerIds = new Set<string>()
  private readonly issued = new Map<string, IssuedToken>()

  /** `series` is a part of each token, and `lifetime` is in seconds. */
  constructor(
    readonly licenseKeys: ReadonlySet<string>,
    readonly series: string,
    public lifetime: number,
    private customerId: string
  ) {
    this.setCustomerId(customerId)
  }

  get issuedCount() {
    return this.issued.size
  }

  setCustomerId(customerId: string) {
    this.customerId = customerId
    this.customerIds.add(customerId)
  }

  /** A new token, or an earlier one that is handed back: `revokedToo` hands back the last one even where it was revoked. */
  exchange(key: string, now: number, revokedToo: boolean): IssuedToken {
    const earlier = revokedToo || this.handsBackValid
      ? [...this.issued.values()].findLast((token) =>
        token.key === key && (revokedToo ? token.expiresAt > now : isAccepted(token, now))
      )
      : undefined
    return earlier ?? this.issue(key, now)
  }

  /** The token of this text, if it is accepted. */
  find(value: string, now: number): IssuedToken | undefined {
    const token = this.issued.get(value)
    return token !== undefined && isAccepted(token, now) ? token : undefined
  }

  /** The number of the token of this text, accepted or not. */
  numberOf(value: string): number | undefined {
    return this.issued.get(value)?.number
  }

  /** The numbers of those that were accepted until now. */
  revoke(now: number): ReadonlyArray<number> {
    const revoked = [...this.issued.values()].filter((token) => isAccepted(token, now))
    for (const token of revoked) token.isRevoked = true
    return revoked.map(({ number }) => number)
  }

  private issue(key: string, now: number): IssuedToken {
    const number = this.issued.size + 1
    const token = {
      number,
      key,
      value: `${this.series}-${number}`,
      customerId: this.customerId,
      expiresAt: now + this.lifetime * 1000,
      isRevoked: false
    }
    this.issued.set(token.value, token)
    this.onIssued(token, now)
    return token
  }
}

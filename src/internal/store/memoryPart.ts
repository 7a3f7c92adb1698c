import type * as Option from "effect/Option"
import type { AccessToken } from "../../AccessToken.js"
import * as InternalPart from "../internalPart.js"

/** What a TokenStore in memory can do beside its interface. */
interface MemoryPart<Store> {
  /** The current token at once, without an effect. */
  readonly current: () => Option.Option<AccessToken>
  /** The store for the tokens of one issuer: two license keys never share a token. */
  readonly storeOf: (issuer: object) => Store
}

export const memoryPart = <Store extends object>() => InternalPart.make<Store, MemoryPart<Store>>("TokenStore/memory")

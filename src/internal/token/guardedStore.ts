import * as Effect from "effect/Effect"
import { constFalse } from "effect/Function"
import * as Option from "effect/Option"
import type * as TokenStore from "../../TokenStore.js"
import { isToken } from "../exchange/isToken.js"
import * as ForeignPart from "../foreignPart.js"

const call = <A>(effect: () => Effect.Effect<A>) => ForeignPart.callApart("The TokenStore", constFalse, effect)

/** A store of the user's without what it dies of, and without what is no token. */
export const guarded = (store: TokenStore.Service): TokenStore.Service => ({
  current: call(() => Effect.map(store.current, Option.filter(isToken))),
  put: (token) => call(() => store.put(token)),
  invalidate: (used) => call(() => store.invalidate(used))
})

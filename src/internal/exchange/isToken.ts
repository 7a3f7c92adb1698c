import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import type { AccessToken } from "../../AccessToken.js"
import { isHeaderValue } from "../http/header.js"

const valueOf = Option.liftThrowable(Redacted.value<unknown>)

/** A secret that was wiped has no value. */
const isSendable = (secret: unknown) =>
  Redacted.isRedacted(secret) &&
  Option.exists(valueOf(secret), (value) => typeof value === "string" && isHeaderValue(value))

const isTime = (time: unknown) => typeof time === "number" && !Number.isNaN(time)

const fields = { value: isSendable, serviceId: isSendable, receivedAt: isTime, expiresAt: isTime }

/** Whether it is a token: an issuer or a store of the user's may hand over anything. */
export const isToken = (token: unknown): token is AccessToken =>
  Object.entries(fields).every(([name, isValid]) => Predicate.hasProperty(token, name) && isValid(token[name]))

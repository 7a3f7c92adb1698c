/**
 * The options of the parts of a custom composition. Each part accepts the options of all parts, so that one object can be passed to all of
 * them, and parses only its own.
 */
import * as Either from "effect/Either"
import { type parse, parseDeclared, rejectUnknown } from "../options/declarations.js"
import {
  dataDeclarations,
  type DataOptions,
  exchangeDeclarations,
  type ExchangeOptions,
  providerDeclarations,
  type ProviderOptions
} from "./settings.js"
import { cacheDeclarations, sharedClientDeclarations, type SharingOptions, withLongEnoughLease } from "./sharing.js"

const parsePart: typeof parse = (declarations, options) =>
  Either.andThen(rejectUnknown(options, sharedClientDeclarations), () => parseDeclared(declarations, options))

/** Parses the options of a TokenProvider, which needs neither the token route nor the key. */
export const parseProvider = (options: ProviderOptions) => parsePart(providerDeclarations, options)

export const parseExchange = (options: ExchangeOptions) => parsePart(exchangeDeclarations, options)

export const parseData = (options: DataOptions) => parsePart(dataDeclarations, options)

export const parseSharing = (options: SharingOptions) =>
  Either.flatMap(parsePart({ ...exchangeDeclarations, ...cacheDeclarations }, options), withLongEnoughLease)

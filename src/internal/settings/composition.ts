/**
 * The options of the parts of a custom composition. Each part accepts the options of all parts, so that one object can be passed to all of
 * them, and parses only its own.
 */
import * as Either from "effect/Either"
import { parse } from "../options/declarations.js"
import {
  dataDeclarations,
  type DataOptions,
  exchangeDeclarations,
  type ExchangeOptions,
  providerDeclarations,
  type ProviderOptions
} from "./settings.js"
import { cacheDeclarations, checkLease, sharedClientDeclarations, type SharingOptions } from "./sharing.js"

const known = sharedClientDeclarations

/** Parses the options of a TokenProvider, which needs neither the token route nor the key. */
export const parseProvider = (options: ProviderOptions) => parse(providerDeclarations, options, { known })

export const parseExchange = (options: ExchangeOptions) => parse(exchangeDeclarations, options, { known })

export const parseData = (options: DataOptions) => parse(dataDeclarations, options, { known })

export const parseSharing = (options: SharingOptions) =>
  Either.flatMap(parse({ ...exchangeDeclarations, ...cacheDeclarations }, options, { known }), checkLease)

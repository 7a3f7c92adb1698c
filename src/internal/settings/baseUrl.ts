import * as Either from "effect/Either"
import * as Url from "../http/url.js"
import { check, type Checked } from "../options/check.js"
import { containsTemplate, paddingRules, placeholderRule } from "./placeholder.js"

const isLoopback = (hostname: string) => /(^|\.)localhost$|^127(\.\d+){3}$|^\[::1\]$/.test(hostname)

export const parseBaseUrl = (
  value: string | URL,
  field: string,
  { allowInsecureHttp }: { readonly allowInsecureHttp?: boolean | undefined }
): Checked<Url.BaseUrl> =>
  Either.gen(function*() {
    const text = String(value)
    const isUrl = URL.canParse(text) && Url.isWellFormed(text) && !/[\s\p{Cc}\p{Cf}]/u.test(text)
    yield* check(
      field,
      [text.trim() !== "", "is blank: set an absolute URL such as https://service.example"],
      [text !== "undefined", "is not set"],
      ...paddingRules(text),
      [!containsTemplate(text), placeholderRule],
      [isUrl, "is not an absolute URL such as https://service.example, or contains an invisible character"]
    )
    const url = new URL(text)
    const isPlain = url.protocol === "http:" && (allowInsecureHttp === true || isLoopback(url.hostname))
    const isHttp = url.protocol === "https:" || isPlain
    yield* check(
      field,
      [isHttp, "must start with https:// (http is allowed only to this machine or with allowInsecureHttp)"],
      [url.username === "" && url.password === "", "must not contain a user name or a password"],
      [!/[?#]/.test(text), "must not contain a query or a fragment"]
    )
    return { origin: url.origin, pathname: url.pathname.replace(/\/+$/, "") }
  })

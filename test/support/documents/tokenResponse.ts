import { read } from "./blocks.js"

const [, section = ""] = /^### Token response([^#]*)/m.exec(read("docs/SERVICE.md")) ?? []

/** The fields of a token response, as docs/SERVICE.md lists them. */
export const fieldsOfTokenResponse = Array.from(section.matchAll(/^\| ([a-z_]+) \|/gm), ([, name = ""]) => name)

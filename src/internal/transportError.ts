/** What to say of a call that ended in each reason, where no code says more. */
const general = {
  Timeout: { reason: "Timeout", what: "timed out", advice: "Try again, or raise the timeout." },
  Aborted: {
    reason: "Aborted",
    what: "was cut off, or not sent since the client is closed",
    advice: "Try again with an open client."
  },
  Connection: {
    reason: "Connection",
    what: "could not reach the service",
    advice: "Check the base URL and the network."
  }
} as const

const unreachable = <const Code extends string>(why: string, advice: string, codes: ReadonlyArray<Code>) => ({
  ...general.Connection,
  what: `${general.Connection.what}: ${why}`,
  advice,
  codes
})

/** The codes of Node, undici and OpenSSL that an error may name, so that no text of a foreign error is among them, and what each says. */
const failures = [
  {
    ...general.Timeout,
    codes: [
      "ETIMEDOUT",
      "ERR_SOCKET_CONNECTION_TIMEOUT",
      "ERR_TLS_HANDSHAKE_TIMEOUT",
      "UND_ERR_BODY_TIMEOUT",
      "UND_ERR_CONNECT_TIMEOUT",
      "UND_ERR_HEADERS_TIMEOUT"
    ]
  },
  {
    ...general.Aborted,
    codes: [
      "ECONNABORTED",
      "ECONNRESET",
      "EPIPE",
      "ERR_STREAM_PREMATURE_CLOSE",
      "UND_ERR_ABORTED",
      "UND_ERR_CLOSED",
      "UND_ERR_RES_EXCEEDED_MAX_SIZE",
      "UND_ERR_SOCKET"
    ]
  },
  {
    ...general.Connection,
    codes: [
      "EADDRNOTAVAIL",
      "EACCES",
      "EPERM",
      "ENOENT",
      "EMFILE",
      "ENFILE",
      "ENOBUFS",
      "ERR_INVALID_URL",
      "ERR_SOCKET_CLOSED",
      "ERR_SSL_UNSUPPORTED_PROTOCOL",
      "ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION",
      "ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE",
      "ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED",
      "HPE_HEADER_OVERFLOW",
      "HPE_INVALID_CHUNK_SIZE",
      "HPE_INVALID_CONSTANT",
      "HPE_INVALID_CONTENT_LENGTH",
      "HPE_INVALID_EOF_STATE",
      "HPE_INVALID_HEADER_TOKEN",
      "HPE_INVALID_STATUS",
      "HPE_INVALID_TRANSFER_ENCODING",
      "HPE_INVALID_VERSION",
      "HPE_UNEXPECTED_CONTENT_LENGTH",
      "UND_ERR_ABORT",
      "UND_ERR_BPL_MISSING_UPSTREAM",
      "UND_ERR_DESTROYED",
      "UND_ERR_HEADERS_OVERFLOW",
      "UND_ERR_INFO",
      "UND_ERR_INVALID_ARG",
      "UND_ERR_INVALID_RETURN_VALUE",
      "UND_ERR_MAX_ORIGINS_REACHED",
      "UND_ERR_NOT_SUPPORTED",
      "UND_ERR_PRX_TLS",
      "UND_ERR_REQ_CONTENT_LENGTH_MISMATCH",
      "UND_ERR_REQ_RETRY",
      "UND_ERR_RESPONSE",
      "UND_ERR_RES_CONTENT_LENGTH_MISMATCH",
      "CERT_CHAIN_TOO_LONG",
      "CERT_REJECTED",
      "CERT_REVOKED",
      "CERT_SIGNATURE_FAILURE",
      "CRL_HAS_EXPIRED",
      "CRL_NOT_YET_VALID",
      "CRL_SIGNATURE_FAILURE",
      "ERROR_IN_CERT_NOT_AFTER_FIELD",
      "ERROR_IN_CERT_NOT_BEFORE_FIELD",
      "ERROR_IN_CRL_LAST_UPDATE_FIELD",
      "ERROR_IN_CRL_NEXT_UPDATE_FIELD",
      "INVALID_CA",
      "INVALID_PURPOSE",
      "OUT_OF_MEM",
      "PATH_LENGTH_EXCEEDED",
      "UNABLE_TO_DECODE_ISSUER_PUBLIC_KEY",
      "UNABLE_TO_DECRYPT_CERT_SIGNATURE",
      "UNABLE_TO_DECRYPT_CRL_SIGNATURE",
      "UNABLE_TO_GET_CRL"
    ]
  },
  unreachable("the connection was refused", "Check that the service is listening at the base URL.", ["ECONNREFUSED"]),
  unreachable("its host name is not known", "Check the base URL and the DNS.", [
    "ENOTFOUND",
    "EAI_NODATA",
    "EAI_NONAME",
    "ENODATA"
  ]),
  unreachable("its host name could not be looked up", "Check the DNS, and try again.", [
    "EAI_AGAIN",
    "EAI_FAIL",
    "ESERVFAIL"
  ]),
  unreachable("no network leads to it", "Check the network, and the firewall or proxy in between.", [
    "EHOSTUNREACH",
    "EHOSTDOWN",
    "ENETUNREACH",
    "ENETDOWN"
  ]),
  unreachable(
    "its certificate is not trusted",
    "Check the base URL, or add the CA that signed the certificate to those that Node trusts (NODE_EXTRA_CA_CERTS).",
    [
      "CERT_UNTRUSTED",
      "DEPTH_ZERO_SELF_SIGNED_CERT",
      "SELF_SIGNED_CERT_IN_CHAIN",
      "UNABLE_TO_GET_ISSUER_CERT",
      "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
      "UNABLE_TO_VERIFY_LEAF_SIGNATURE"
    ]
  ),
  unreachable(
    "its certificate is not valid today",
    "Check the certificate of the service, and the clock of this machine.",
    ["CERT_HAS_EXPIRED", "CERT_NOT_YET_VALID"]
  ),
  unreachable("its certificate is for another host name", "Check the host name in the base URL.", [
    "ERR_TLS_CERT_ALTNAME_INVALID",
    "HOSTNAME_MISMATCH"
  ]),
  unreachable("it does not answer in TLS", "Check the scheme and the port of the base URL.", [
    "EPROTO",
    "ERR_SSL_PACKET_LENGTH_TOO_LONG",
    "ERR_SSL_WRONG_VERSION_NUMBER"
  ])
] as const

/** Extract gives the union a name of its own, which editors show in place of the whole list. */
export type TransportCode = Extract<(typeof failures)[number]["codes"][number], string>

export const transportCodes = failures.flatMap<TransportCode>(({ codes }) => codes)

export type TransportReason = keyof typeof general

const known: ReadonlySet<unknown> = new Set(transportCodes)

const isKnown = (code: unknown): code is TransportCode => known.has(code)

const deepest = 5

/** Of an AggregateError: one for each address of a host name. */
const mostInside = 16

interface Links {
  readonly code?: unknown
  readonly cause?: unknown
  readonly errors?: unknown
}

/** A foreign error may be a proxy or have getters that throw: then it tells nothing. */
const linksOf = (error: object): Links => {
  try {
    const { cause, code, errors }: Links = error
    return { cause, code, errors }
  } catch {
    return {}
  }
}

const codeWithin = (error: unknown, depth: number): TransportCode | undefined => {
  if (typeof error !== "object" || error === null || depth === 0) return undefined
  const { cause, code, errors } = linksOf(error)
  if (isKnown(code)) return code
  for (const inner of Array.isArray(errors) ? errors.slice(0, mostInside) : []) {
    const found = codeWithin(inner, depth - 1)
    if (found !== undefined) return found
  }
  return codeWithin(cause, depth - 1)
}

/**
 * The first known code on the way down the causes, the errors inside an AggregateError included; nothing else of a foreign error
 * is looked at.
 */
export const codeOf = (error: unknown): TransportCode | undefined => codeWithin(error, deepest)

const failureOf = (code: TransportCode | undefined) => failures.find(({ codes }) => codes.some((one) => one === code))

/** Where the head of an answer was there, its status is known, and the rest of it is what is missing. */
export const reasonOf = (code: TransportCode | undefined, status: number | undefined): TransportReason => {
  const reason = failureOf(code)?.reason ?? "Connection"
  return status !== undefined && reason === "Connection" ? "Aborted" : reason
}

/** What happened to a call and what to check, as the rest of a sentence that begins with the call. */
export const transportText = (reason: TransportReason, code: TransportCode | undefined): string => {
  const failure = failureOf(code)
  const { advice, what } = failure?.reason === reason ? failure : general[reason]
  return `${what}${code === undefined ? "" : ` (${code})`}. ${advice}`
}

/** The codes of a TransportError: its reason, what to check first, and whether the same request can ever succeed. */
import type { TransportError } from "../../NutritionAdvisorError.js"

/** What to check first, and the codes for which that helps. The first row that matches counts. */
type Table = ReadonlyArray<readonly [advice: string, ...codes: ReadonlyArray<RegExp>]>

/** A later request may succeed. */
const transient: Table = [
  ["Check that the service is listening at the base URL. If you have a proxy, check that too.", /^ECONNREFUSED$/],
  [
    "Check the host name in the base URL and your DNS settings. If you have a proxy, check that the client uses it.",
    /^(ENOTFOUND|EAI_AGAIN)$/
  ],
  ["Run fewer requests at once.", /^EMFILE$/],
  ["Check that your proxy lets the client through.", /^UND_ERR_(ABORTED|PRX_CONN)$|PROXY_TUNNEL/],
  ["Check the base URL, firewalls, proxies and any timeout in your own fetch.", /^ETIMEDOUT$|CONNECT_TIMEOUT/],
  ["Check the base URL: its port may use plain http or another TLS version.", /^EPROTO$/]
]

/** The same request fails until someone changes something. */
const permanent: Table = [
  ["fetch blocks the port in baseUrl: use another port, or UndiciClient.", /^BAD_PORT$/],
  ["fetch can't send this method, or not with a body: use another method, or UndiciClient.", /^BAD_METHOD$/],
  ["Check the base URL, or make Node trust the certificate with NODE_EXTRA_CA_CERTS.", /SELF_SIGNED|^UNABLE_TO_/],
  [
    "Check the host name in the base URL or of your proxy: the certificate is for a different host.",
    /ALTNAME|PRX_TLS$|^HOSTNAME_MISMATCH$/
  ],
  [
    "Check the service's certificate and this machine's clock.",
    /^CERT_|^INVALID_(CA|PURPOSE)$|^PATH_LENGTH_EXCEEDED$|^ERROR_IN_CERT_/
  ],
  [
    "Check the base URL: its port may use plain http, or a proxy may be responding instead.",
    /_SSL_.*(WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|HTTP_REQUEST|PROXY_REQUEST)/
  ],
  ["The service requires a client certificate: configure one.", /_SSL_.*(CERTIFICATE_REQUIRED|ALERT_.*CERTIFICATE)/],
  [
    "Check your TLS options: key, passphrase, certificate, ciphers and versions.",
    /^ERR_(OSSL_|CRYPTO_|TLS_.*PROTOCOL)|_SSL_NO_CIPHER_MATCH$/
  ],
  [
    "Compare the TLS versions, ciphers and certificates of client and service.",
    /_SSL_.*(PROTOCOL_VERSION|PROTOCOLS_AVAILABLE|_PROTOCOL$|HANDSHAKE_FAILURE|INSUFFICIENT_SECURITY)/,
    /_SSL_.*(LEGACY_RENEGOTIATION|UNRECOGNIZED_NAME|UNKNOWN_CA|ACCESS_DENIED|KEY_TOO_SMALL|NO_(SHARED_)?CIPHER)/
  ],
  ["This process has no fetch: use UndiciClient.", /^ERR_NO_FETCH$/],
  ["fetch returned a response that can't be read: check any mock of fetch.", /^ERR_FETCH_RESPONSE$/],
  ["Start Node or Deno with --allow-net.", /^ERR_ACCESS_DENIED$/],
  ["Your undici dispatcher is closed: close it after the client.", /^UND_ERR_(DESTROYED|CLOSED)$/],
  [
    "The HTTP client rejected the request: check baseUrl, headers, any wrappers, globalThis.location and the undici version of any dispatcher.",
    /^UND_ERR_(INVALID_ARG|NOT_SUPPORTED|REQ_CONTENT_LENGTH_MISMATCH)$/,
    /^ERR_INVALID_(ARG_\w+|CHAR|HTTP_TOKEN|PROTOCOL|URL)$/,
    /^ERR_(HTTP_INVALID_HEADER_VALUE|HTTP_CONTENT_LENGTH_MISMATCH|UNESCAPED_CHARACTERS|SOCKET_BAD_PORT)$/
  ]
]

const adviceIn = (table: Table, code = "") =>
  table.find(([, ...codes]) => codes.some((pattern) => pattern.test(code)))?.[0]

export const adviceOf = (code: string | undefined): string | undefined =>
  adviceIn(transient, code) ?? adviceIn(permanent, code)

/** Whether a retry is pointless, for example because the certificate was rejected. */
export const isPermanent = (code: string | undefined): boolean => adviceIn(permanent, code) !== undefined

/** The codes of Node and Bun for a body that isn't compressed as its content-encoding says. Some contain lower-case letters. */
export const decompressionCode = /^(Z_DATA_ERROR|ERR__ERROR_\w+|ZSTD_error_\w+|(Zlib|\w+Decompression)Error)$/

/**
 * Whether the response was not valid HTTP, its headers were too large, or its body can't be decompressed. undici reports many invalid heads
 * as a wrong content length. After a valid head, this code means that the body was cut off.
 */
export const isBroken = ({ code = "", reason }: TransportError): boolean =>
  /^HPE_(?!INVALID_EOF)|^ERR_HTTP2_ERROR$|HEADERS_OVERFLOW/.test(code) || decompressionCode.test(code) ||
  (reason === "Connection" && code.includes("RES_CONTENT_LENGTH"))

/**
 * The connection was closed, or the service reset the request over HTTP/2: undici reports some of these resets as UND_ERR_INFO. If the
 * connection was closed within the body, axios reports ERR_BAD_RESPONSE, and got reports Z_BUF_ERROR if the body is compressed.
 */
const cutOff =
  /ABORTED|RESET|EPIPE|PREMATURE|CLOSED|DESTROYED|_SOCKET$|INVALID_EOF|HTTP2_(STREAM|SESSION)_ERROR|^(UND_ERR_INFO|ERR_BAD_RESPONSE|Z_BUF_ERROR)$/

/** Returns the reason of a failure. `hasHead` tells whether the head of the response was received. */
export const reasonOf = (code: string, hasHead: boolean): TransportError["reason"] => {
  if (/TIMED?OUT/.test(code)) return "Timeout"
  return hasHead || cutOff.test(code) ? "Aborted" : "Connection"
}

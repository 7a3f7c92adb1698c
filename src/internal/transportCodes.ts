/** The codes of a TransportError: what to check first, and whether the same request can ever succeed. */

/** The code for a port that fetch blocks. The error of fetch has no code. */
export const badPort = "BAD_PORT"

interface Row {
  readonly code: RegExp
  readonly advice: string
  /** The same request fails until someone changes something. */
  readonly isPermanent?: true
}

/** The first row that matches counts. */
const rows: ReadonlyArray<Row> = [
  {
    code: /^BAD_PORT$/,
    advice:
      "fetch blocks the port in baseUrl, as browsers do: use another port, or another client such as UndiciClient.",
    isPermanent: true
  },
  {
    code: /^ECONNREFUSED$/,
    advice: "Check that the service is listening at the base URL. If you have a proxy, check that too."
  },
  {
    code: /^ENOTFOUND$/,
    advice:
      "Check the host name in the base URL and your DNS settings. If you have a proxy, check that the client uses it."
  },
  { code: /^EAI_AGAIN$/, advice: "Check your DNS settings." },
  {
    code: /^UND_ERR_ABORTED$|PROXY_TUNNEL/,
    advice: "Check that your proxy lets the client through."
  },
  {
    code: /^ETIMEDOUT$|CONNECT_TIMEOUT/,
    advice: "Check the base URL, and check for a firewall or proxy in between."
  },
  {
    code: /SELF_SIGNED|^UNABLE_TO_/,
    advice: "Check the base URL, or make Node trust the certificate with NODE_EXTRA_CA_CERTS.",
    isPermanent: true
  },
  {
    code: /ALTNAME|^HOSTNAME_MISMATCH$/,
    advice: "Check the host name in the base URL: the service's certificate is for a different host.",
    isPermanent: true
  },
  {
    code: /^CERT_|^INVALID_(CA|PURPOSE)$|^PATH_LENGTH_EXCEEDED$|^ERROR_IN_CERT_/,
    advice: "Check the service's certificate and the clock of this machine.",
    isPermanent: true
  },
  {
    code: /_SSL_.*(WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|HTTP_REQUEST|HTTPS_PROXY_REQUEST)/,
    advice: "Check the base URL: its port may not use https, or a proxy may be responding instead.",
    isPermanent: true
  },
  {
    code: /_SSL_.*(PROTOCOL_VERSION|UNSUPPORTED_PROTOCOL|NO_PROTOCOLS_AVAILABLE|UNKNOWN_PROTOCOL)/,
    advice: "Check the base URL: its port may use a different version of TLS.",
    isPermanent: true
  },
  {
    code: /_SSL_.*CERTIFICATE_REQUIRED|_SSL_.*ALERT_(BAD|UNSUPPORTED|NO)_CERTIFICATE|_SSL_.*ALERT_CERTIFICATE_/,
    advice: "The service requires a client certificate: configure the HTTP client with one that the service accepts.",
    isPermanent: true
  },
  {
    code:
      /_SSL_.*(HANDSHAKE_FAILURE|INSUFFICIENT_SECURITY|NO_APPLICATION_PROTOCOL|LEGACY_RENEGOTIATION|UNRECOGNIZED_NAME|UNKNOWN_CA|ALERT_ACCESS_DENIED|KEY_TOO_SMALL|NO_CIPHERS|NO_SHARED_CIPHER|UNSUPPORTED_CERTIFICATE)/,
    advice: "The client and the service have no TLS settings in common: compare versions, ciphers and certificates.",
    isPermanent: true
  },
  {
    code: /^ERR_NO_FETCH$/,
    advice: "This process has no fetch: choose another HttpClient, such as UndiciClient.",
    isPermanent: true
  },
  {
    code: /^ERR_FETCH_RESPONSE$/,
    advice: "The fetch function did not return a readable Response: check what replaces globalThis.fetch.",
    isPermanent: true
  },
  {
    code: /^EPROTO$/,
    advice: "Check the base URL: its port may not use https, or may use a different version of TLS."
  },
  { code: /^ERR_ACCESS_DENIED$/, advice: "Start Node with --allow-net.", isPermanent: true },
  {
    code: /^UND_ERR_(DESTROYED|CLOSED)$/,
    advice: "Your undici dispatcher is closed: keep it open until the client is closed.",
    isPermanent: true
  },
  {
    code:
      /^(UND_ERR_(INVALID_ARG|NOT_SUPPORTED|REQ_CONTENT_LENGTH_MISMATCH)|ERR_(INVALID_(ARG_\w+|CHAR|HTTP_TOKEN|PROTOCOL|URL)|UNESCAPED_CHARACTERS|SOCKET_BAD_PORT|HTTP_(INVALID_HEADER_VALUE|CONTENT_LENGTH_MISMATCH)))$/,
    advice: "The HTTP client refuses to send this request: check baseUrl, the headers and any wrappers of the client.",
    isPermanent: true
  }
]

const rowOf = (code: string | undefined) => code === undefined ? undefined : rows.find((row) => row.code.test(code))

export const adviceOf = (code: string | undefined): string | undefined => rowOf(code)?.advice

/** Checks whether a retry is pointless, as after a rejected certificate. */
export const isPermanent = (code: string | undefined): boolean => rowOf(code)?.isPermanent === true

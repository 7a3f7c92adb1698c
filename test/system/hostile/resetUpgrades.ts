import { connect } from "node:net"
import { setTimeout } from "node:timers/promises"

const request = "GET / HTTP/1.1\r\nhost: localhost\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n"

const reset = async (port: string, millis: number) => {
  const socket = connect(Number(port), "127.0.0.1").on("error", () => {})
  socket.write(request)
  await setTimeout(millis)
  socket.resetAndDestroy()
}

/** Connections that ask for an upgrade and are reset, some before the answer and some after it. */
export const resetUpgrades = (url: string) =>
  Promise.all(Array.from({ length: 60 }, (_, index) => reset(new URL(url).port, index % 8)))

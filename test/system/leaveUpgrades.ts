import { connect } from "node:net"
import { setTimeout } from "node:timers/promises"

const upgrade = "GET / HTTP/1.1\r\nhost: localhost\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n"

/** Nobody reads it. */
const body = "x".repeat(70_000)

const leave = async (port: string, index: number) => {
  const socket = connect(Number(port), "127.0.0.1").on("error", () => {})
  socket.write(index % 2 === 0 ? upgrade : upgrade + body)
  await setTimeout(index % 8)
  if (index % 3 === 0) socket.destroy()
  else socket.resetAndDestroy()
}

/** Connections that ask for an upgrade and leave, some before the response and some after it, some with a reset. */
export const leaveUpgrades = (url: string) =>
  Promise.all(Array.from({ length: 60 }, (_, index) => leave(new URL(url).port, index)))

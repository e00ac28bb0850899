import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'

/**
 * A way to the database that drops every connection until it is opened: what a server does that is
 * starting.
 */
export async function startDoor(url: string) {
  const { hostname, port } = new URL(url)
  const door = new URL(url)
  const sockets = new Set<Socket>()
  let open = false
  const server = createServer(socket => {
    sockets.add(socket)
    socket.on('error', () => {})
    if (!open) return void socket.end()
    const through = connect(Number(port), hostname)
    sockets.add(through)
    through.on('error', () => socket.destroy())
    socket.pipe(through).pipe(socket)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (typeof address === 'object' && address) door.port = String(address.port)
  return {
    url: door.href,
    open() {
      open = true
    },
    async close() {
      server.close()
      for (const socket of sockets) socket.destroy()
      await once(server, 'close')
    },
  }
}

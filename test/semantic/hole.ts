import { once } from 'node:events'
import { createServer, type Server, type Socket } from 'node:net'

/** Accepts connections and never answers. */
export async function startHole(): Promise<{ url: string; stop(): void }> {
  const sockets = new Set<Socket>()
  const server: Server = createServer(socket => {
    sockets.add(socket)
    socket.on('error', () => {})
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  return {
    url: `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`,
    stop() {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}

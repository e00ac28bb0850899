import { connect, createServer } from 'node:net'
import { listen } from '../fleet.ts'

/**
 * Leads to a server as if from another host: connections arrive there from `address`.
 * @returns the url with the host and port of the way
 */
export async function fromHost(address: string, url: string): Promise<{ url: string; close(): void }> {
  const target = new URL(url)
  const server = { host: target.hostname, port: Number(target.port), localAddress: address }
  const way = createServer(socket => {
    const onward = connect(server)
    socket.on('error', () => onward.destroy()).pipe(onward)
    onward.on('error', () => socket.destroy()).pipe(socket)
  })
  way.unref()
  target.hostname = '127.0.0.1'
  target.port = String(await listen(way))
  return { url: target.href, close: () => way.close() }
}

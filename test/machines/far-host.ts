import { once } from 'node:events'
import { connect, createServer } from 'node:net'

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
  way.listen(0, '127.0.0.1')
  await once(way, 'listening')
  const place = way.address()
  target.hostname = '127.0.0.1'
  target.port = typeof place === 'object' && place ? String(place.port) : ''
  return { url: target.href, close: () => way.close() }
}

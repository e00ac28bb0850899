import { once } from 'node:events'
import { createServer } from 'node:http'

/** The real Qdrant behind a proxy that spoils vectors on their way, so that it refuses them. */
export interface SpoiledQdrant {
  url: string
  /** Points whose vector is spoiled. */
  spoiled: Set<number>
  stop(): Promise<void>
}

export async function spoilVectors(real: string): Promise<SpoiledQdrant> {
  const spoiled = new Set<number>()
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const { method = 'GET', url = '/' } = request
    const body = Buffer.concat(chunks).toString()
    try {
      const answer = await fetch(real + url, {
        method,
        headers: { 'content-type': 'application/json', 'api-key': String(request.headers['api-key'] ?? '') },
        ...(method === 'GET' ? {} : { body: /\/points\b/.test(url) && method === 'PUT' ? spoil(body) : body }),
      })
      response.writeHead(answer.status, { 'content-type': 'application/json' }).end(await answer.text())
    } catch {
      response.destroy()
    }
  })
  const spoil = (body: string): string => {
    const upsert: { points?: { id: number; vector: number[] }[] } = JSON.parse(body)
    for (const point of upsert.points ?? []) if (spoiled.has(point.id)) point.vector.pop()
    return JSON.stringify(upsert)
  }
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  return {
    url: `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`,
    spoiled,
    async stop() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

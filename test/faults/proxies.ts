import { createServer, type IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { closeServer, listen } from '#test/fleet'

interface Passing {
  /** Another body in place of the one that was sent. */
  change?(body: string, request: IncomingMessage): string
  /** ms by which an answer is kept back, from those that the real server took. */
  late?(took: number): number
  /** Called for a request whose maker did not wait for the answer. */
  onGivenUp?(): void
}

/** A web server before a real one. */
async function startProxy(real: string, { change, late, onGivenUp }: Passing) {
  const server = createServer(async (request, response) => {
    const began = Date.now()
    response.once('close', () => {
      if (!response.writableFinished) onGivenUp?.()
    })
    try {
      const sent = await text(request)
      const { method = 'GET', url = '/' } = request
      const headers = {
        'content-type': request.headers['content-type'] ?? 'application/json',
        authorization: request.headers.authorization ?? '',
        'api-key': String(request.headers['api-key'] ?? ''),
      }
      const body = method === 'GET' ? {} : { body: change?.(sent, request) ?? sent }
      const answer = await fetch(new URL(url, real), { method, headers, ...body })
      const bytes = Buffer.from(await answer.arrayBuffer())
      await sleep(late?.(Date.now() - began) ?? 0)
      response
        .writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' })
        .end(bytes)
    } catch {
      response.destroy()
    }
  })
  return { url: `http://127.0.0.1:${await listen(server)}`, stop: () => closeServer(server) }
}

export interface SpoiledVectors {
  /** Points whose vector is spoiled. */
  spoiled: Set<number>
  url: string
  stop(): Promise<void>
}

/** The real Qdrant behind a proxy that spoils vectors on their way, so that it refuses them. */
export async function spoilVectors(real: string): Promise<SpoiledVectors> {
  const spoiled = new Set<number>()
  const proxy = await startProxy(real, {
    change(body, { method, url = '' }) {
      if (method !== 'PUT' || !/\/points\b/.test(url)) return body
      const upsert: { points?: { id: number; vector: number[] }[] } = JSON.parse(body)
      for (const point of upsert.points ?? []) if (spoiled.has(point.id)) point.vector.pop()
      return JSON.stringify(upsert)
    },
  })
  return { ...proxy, spoiled }
}

/** How slow the model server is. */
export interface SlowModel {
  /** How many times longer than the real one an answer takes; tests change it. */
  factor: number
  /** Requests whose client has left. */
  givenUp: number
  url: string
  stop(): Promise<void>
}

/**
 * A model server that is far too slow: the real one, with a proxy before it that keeps each answer
 * back.
 */
export async function slowDown(real: string, factor: number): Promise<SlowModel> {
  const model = { factor, givenUp: 0, url: '', stop: async () => {} }
  const proxy = await startProxy(real, {
    late: took => took * (model.factor - 1),
    onGivenUp() {
      model.givenUp += 1
    },
  })
  return Object.assign(model, { url: `${proxy.url}/v1/embeddings`, stop: proxy.stop })
}

import { once } from 'node:events'
import { createServer } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

/**
 * A model server that is far too slow: the real one, with a proxy before it that keeps each answer
 * back.
 */
export interface SlowModel {
  url: string
  /** How many times longer than the real one an answer takes; tests change it while it runs. */
  factor: number
  /** Requests whose maker did not wait for the answer. */
  givenUp: number
  stop(): Promise<void>
}

export async function slowDown(real: string, factor: number): Promise<SlowModel> {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const began = Date.now()
    response.once('close', () => {
      if (!response.writableFinished) model.givenUp += 1
    })
    try {
      const { method = 'POST' } = request
      const answer = await fetch(real, {
        method,
        headers: {
          'content-type': request.headers['content-type'] ?? 'application/json',
          authorization: request.headers.authorization ?? '',
        },
        ...(method === 'POST' ? { body: Buffer.concat(chunks) } : {}),
      })
      const body = Buffer.from(await answer.arrayBuffer())
      await sleep((Date.now() - began) * (model.factor - 1))
      response
        .writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? 'application/json' })
        .end(body)
    } catch {
      response.destroy()
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' && address ? address.port : 0
  const model: SlowModel = {
    url: `http://127.0.0.1:${port}/v1/embeddings`,
    factor,
    givenUp: 0,
    async stop() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
  return model
}

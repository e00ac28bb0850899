import { createHash } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { listen } from '#test/fleet'

/** The endpoint's behaviour. Tests change it while it runs. */
export type Mood = 'answers' | 'hangs' | 'fails' | 'throttles'

/**
 * An endpoint that speaks OpenAI's `/v1/embeddings` over real HTTP. Its model hashes words: texts
 * that share words have similar vectors, in microseconds, the same on every machine. Refuses texts
 * that hold `refused`, unless it is told another word.
 */
export interface WordModel {
  url: string
  mood: Mood
  /** Bodies of all requests so far. */
  requests: { input: string[]; model: string; input_type?: string }[]
  /** ms that each request takes. */
  delay: number
  /** Requests in their delay. */
  underWay: number
  start(): Promise<void>
  /** Ends it; `start` on the same port brings it back. */
  stop(): Promise<void>
}

/** A model that tests call by a known name has as many numbers as that. */
const dimensionsOf = (model: string) => (model.endsWith('e5-small') ? 384 : 64)

/** @param refused null: it takes every text */
export async function startWordModel(refused: string | null = 'refused'): Promise<WordModel> {
  let server: Server | undefined
  let port = 0
  const model = {
    url: '',
    mood: 'answers' as Mood,
    requests: [] as { input: string[]; model: string; input_type?: string }[],
    delay: 0,
    underWay: 0,
    async start() {
      server = createServer(async (request, response) => {
        let body = ''
        for await (const chunk of request) body += chunk
        const asked: (typeof model.requests)[number] = JSON.parse(body)
        model.requests.push(asked)
        model.underWay++
        if (model.delay > 0) await pause(model.delay)
        model.underWay--
        if (model.mood === 'hangs') return
        const answer = (status: number, value: unknown, headers = {}) =>
          response
            .writeHead(status, { 'content-type': 'application/json', ...headers })
            .end(JSON.stringify(value))
        if (model.mood === 'fails') return answer(503, { error: 'overloaded' })
        if (model.mood === 'throttles')
          return answer(429, { error: 'slow down' }, { 'retry-after': '1' })
        if (refused !== null && asked.input.some(text => text.includes(refused)))
          return answer(400, { error: 'I will not read this' })
        const data = asked.input.map((text, index) => ({
          index,
          embedding: wordVector(text, dimensionsOf(asked.model)),
        }))
        answer(200, { data, model: asked.model })
      })
      port = await listen(server, '127.0.0.1', port)
      model.url = `http://127.0.0.1:${port}/v1/embeddings`
    },
    async stop() {
      server?.closeAllConnections()
      await new Promise(resolve => server?.close(resolve))
    },
  }
  await model.start()
  return model
}

/** Each word adds a fixed direction. */
function wordVector(text: string, dimensions: number): number[] {
  const vector = new Array<number>(dimensions).fill(0.01)
  for (const word of text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []) {
    const bytes = createHash('sha256').update(word).digest()
    for (let at = 0; at < dimensions; at++)
      vector[at]! += bytes[at % 32]! / 128 - 1 + (at >= 32 ? 0.1 : 0)
  }
  return vector
}

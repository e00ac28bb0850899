import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import { closeServer, listen } from '../fleet.ts'

/** What went over the road. */
export interface Passage {
  path: string
  etag: string | undefined
  /** Null: the road broke it off. */
  status: number | null
}

/** The way from a client to the API: it can break off answers, fall silent, and add a field. */
export interface Road {
  url: string
  passed: Passage[]
  /** What happens to the next passages, one after another; then all are let through. */
  next(...fates: Fate[]): void
  /** What happens to passages that `next` does not decide. */
  always(fate: Fate): void
  close(): Promise<void>
}

export type Fate = 'pass' | 'break' | 'silence' | 'add-field'

export async function openRoad(target: string): Promise<Road> {
  let fates: Fate[] = []
  let usual: Fate = 'pass'
  const passed: Passage[] = []
  const server = createServer((asked, answer) => {
    const fate = fates.shift() ?? usual
    const passage: Passage = { path: asked.url ?? '', etag: asked.headers['if-none-match'], status: null }
    passed.push(passage)
    if (fate === 'silence') return
    // What is to be changed must come as text.
    const headers = { ...asked.headers, ...(fate === 'add-field' ? { 'accept-encoding': 'identity' } : {}) }
    const onward = request(target + passage.path, { method: asked.method, headers, agent: false })
    onward.on('response', answered => {
      if (fate === 'break') return breakOff(answered, answer)
      passage.status = answered.statusCode ?? null
      void hand(answered, answer, fate)
    })
    onward.on('error', () => answer.destroy())
    onward.end()
  })
  const port = await listen(server)
  return {
    url: `http://127.0.0.1:${port}`,
    passed,
    next: (...wanted) => {
      fates = wanted
    },
    always: fate => {
      usual = fate
    },
    close: () => closeServer(server),
  }
}

/** The head and no body: a client must not take it for a whole answer. */
function breakOff(answered: IncomingMessage, answer: ServerResponse): void {
  answered.resume()
  answer.writeHead(answered.statusCode ?? 500, { ...answered.headers, 'content-length': '1000' })
  answer.flushHeaders()
  answer.destroy()
}

async function hand(answered: IncomingMessage, answer: ServerResponse, fate: Fate): Promise<void> {
  const parts: Buffer[] = []
  for await (const part of answered) parts.push(part)
  const body = Buffer.concat(parts)
  if (fate === 'pass' || body.length === 0) {
    answer.writeHead(answered.statusCode ?? 500, answered.headers)
    return void answer.end(body)
  }
  const object = JSON.parse(body.toString())
  for (const article of object.articles ?? []) article.added = { later: true }
  const { 'content-length': _, ...headers } = answered.headers
  answer.writeHead(answered.statusCode ?? 500, headers)
  answer.end(JSON.stringify({ ...object, added: 1 }))
}

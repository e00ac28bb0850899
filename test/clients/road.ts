import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import { closeServer, listen } from '#test/fleet'

/** What went over the road. */
export interface Passage {
  path: string
  etag: string | undefined
  /** Null: the road broke it off. */
  status: number | null
}

export type Fate = 'pass' | 'break' | 'silence' | 'add-field'

export interface Road {
  url: string
  passed: Passage[]
  /** What happens to the next passages, one after another; then all are let through. */
  next(...wanted: Fate[]): void
  /** What happens to passages that `next` does not decide. */
  always(fate: Fate): void
  close(): Promise<void>
}

/** The way from a client to the API: it can break off answers, fall silent, and add a field. */
export async function openRoad(target: string): Promise<Road> {
  let fates: Fate[] = []
  let usual: Fate = 'pass'
  const passed: Passage[] = []
  const server = createServer((asked, answer) => {
    const fate = fates.shift() ?? usual
    const passage: Passage = {
      path: asked.url ?? '',
      etag: asked.headers['if-none-match'],
      status: null,
    }
    passed.push(passage)
    if (fate === 'silence') return
    // What is to be changed must come as text.
    const headers = {
      ...asked.headers,
      ...(fate === 'add-field' ? { 'accept-encoding': 'identity' } : {}),
    }
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
    next: (...wanted: Fate[]) => {
      fates = wanted
    },
    always: (fate: Fate) => {
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

/** What stands where the API should, by path; what the clients make of it, and its sentence. */
export const FOREIGN_ANSWERS = [
  [
    'login',
    'ForeignAnswerError',
    /answers 200 with text\/html that is no answer of the API; is a proxy or a login/,
  ],
  ['other-json', 'ForeignAnswerError', /answers 200 with application\/json that is no answer/],
  ['empty', 'ForeignAnswerError', /answers 204 with no content type that is no answer/],
  [
    'redirect',
    'ForeignAnswerError',
    /redirects to https:\/\/login\.example(:443)?; write the address of the API itself/,
  ],
  ['half', 'NoAnswerError', /The answer of .* broke off\./],
  ['cut', 'NoAnswerError', /The answer of .* broke off\./],
  ['bad-gzip', 'NoAnswerError', /The answer of .* broke off\./],
  ['strange-error', 'ApiError', /Go away.* \(403 gateway\)/],
] as const

/** A server that is no API. */
export async function openForeign(): Promise<{ url: string; close(): Promise<void> }> {
  const json = { 'content-type': 'application/json', 'x-ratelimit-limit': '100, 100;w=60' }
  const server = createServer((asked, answer) => {
    const fate = asked.url?.split('/')[1]
    if (fate === 'login') answer.setHeader('content-type', 'text/html').end('<h1>Log in</h1>')
    else if (fate === 'other-json') answer.writeHead(200, json).end('{"data":[]}')
    else if (fate === 'empty') answer.writeHead(204).end()
    else if (fate === 'redirect')
      answer.writeHead(302, { location: 'https://login.example/?from=secret' }).end()
    else if (fate === 'half') answer.writeHead(200, json).end('{"status":"ok","articles":[{"id"')
    else if (fate === 'bad-gzip')
      answer.writeHead(200, { ...json, 'content-encoding': 'gzip' }).end('no gzip')
    else if (fate === 'strange-error')
      answer.writeHead(403, json).end('{"code":"gateway","message":"Go away.","errors":{"a":"b"}}')
    else
      answer
        .writeHead(200, { ...json, 'content-length': '1000' })
        .end('{"status":', () => answer.destroy())
  })
  const port = await listen(server)
  return { url: `http://127.0.0.1:${port}`, close: () => closeServer(server) }
}

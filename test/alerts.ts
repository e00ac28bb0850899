import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import type { Test } from 'tap'
import { type Alert, type AlertTerms, putAlert } from '#shared/desk/alerts/alerts'
import { keepSearch } from '#shared/desk/searches'
import type { Pool } from '#shared/postgres/pool'
import { listen } from './fleet.ts'

/** What a receiver of webhooks was sent. */
export interface Received {
  at: number
  /** The path that it was sent to. */
  path: string
  headers: Record<string, string>
  body: string
  /** How it was answered; absent: not yet. */
  status?: number | 'hang'
  json: {
    id: string
    type: string
    search: { id: string; name: string }
    articles: { id: string; title: string }[]
    more: number
    removals?: { number: number; id: string; removed_at: string }[]
  }
}

export interface Receiver {
  /** Ends with a slash. */
  url: string
  received: Received[]
  /** How it answers; `hang`: not at all; `gone`: it ends the connection before it has read. */
  fate: { next(): number | 'hang' | 'gone' | Promise<number> }
  titles(): string[]
}

/** A receiver of webhooks, until the test ends. */
export async function startReceiver(test: Pick<Test, 'teardown'>): Promise<Receiver> {
  const received: Received[] = []
  const fate: Receiver['fate'] = { next: () => 200 }
  const server = createServer(async (request, response) => {
    const answering = fate.next()
    if (answering === 'gone') return request.socket.destroy()
    const body = await text(request)
    const headers = Object.fromEntries(
      Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
    )
    const path = request.url ?? ''
    const one: Received = { at: Date.now(), path, headers, body, json: JSON.parse(body) }
    received.push(one)
    const answer = await answering
    one.status = answer
    if (answer !== 'hang') response.writeHead(answer, { location: '/elsewhere' }).end('ok')
  })
  const url = `http://127.0.0.1:${await listen(server)}/`
  test.teardown(() => server.close().closeAllConnections())
  const titles = () => received.flatMap(({ json }) => json.articles.map(({ title }) => title))
  return { url, received, fate, titles }
}

/** Keeps a search with an alert. It tells in English and at once, unless `more` says otherwise. */
export async function keepAlert(
  pool: Pool,
  keyId: string,
  search: string,
  more: Pick<AlertTerms, 'to'> & Partial<AlertTerms>,
  name: string = search,
): Promise<Alert> {
  const { id } = (await keepSearch(pool, keyId, { name, search }))!
  const terms = { when: 'at once', zone: 'UTC', language: 'en' as const, ...more }
  return (await putAlert(pool, keyId, id, terms))!
}

// Prints every article once, oldest first, and keeps its place in place.json. Node 24, no packages.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

interface Page {
  articles: { id: string; title: string; ingested_at: string }[]
  next_cursor: string | null
}

const { PERSCOPE_URL, PERSCOPE_KEY } = process.env

async function ask(query: URLSearchParams): Promise<Page> {
  for (let attempt = 0; ; attempt++) {
    const response = await fetch(`${PERSCOPE_URL}/v1/articles?${query}`, {
      headers: { Authorization: `Bearer ${PERSCOPE_KEY}` },
      signal: AbortSignal.timeout(30_000),
    })
    const body = JSON.parse(await response.text())
    if (response.ok) return body
    const waits = body.code === 'rate_limit_exceeded' || response.status === 503
    if (!waits || attempt === 5) throw new Error(`${body.code}: ${body.message}`)
    await sleep(Number(response.headers.get('retry-after') ?? 5) * 1_000)
  }
}

// The first time there is no place: the poll begins with all that the plan covers.
let place: { after?: string; ids: string[] } = { ids: [] }
if (existsSync('place.json')) place = JSON.parse(readFileSync('place.json', 'utf8'))
const query = new URLSearchParams({ sort: 'ingested_at', order: 'asc', per_page: '100' })
if (place.after) query.set('ingested_after', place.after)
for (;;) {
  const { articles, next_cursor } = await ask(query)
  for (const { id, ingested_at, title } of articles) {
    if (place.ids.includes(id)) continue // the bound is inclusive: articles of that moment come again
    console.log(`${ingested_at}\t${id}\t${title}`)
    place = { after: ingested_at, ids: ingested_at === place.after ? [...place.ids, id] : [id] }
  }
  writeFileSync('place.json', JSON.stringify(place))
  if (next_cursor === null) break
  query.set('cursor', next_cursor)
}

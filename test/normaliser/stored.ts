import { gzipSync } from 'node:zlib'
import type { RightsHeaders } from '#shared/outlets/rights'
import type { TestDatabase } from '#test/database'

/** A page as the crawler would have stored it. */
export interface Stored {
  path: string
  html: string | null
  title: string | null
  summary?: string
  status?: number
  /** Headers that state rights. */
  rights?: RightsHeaders
}

/** Stores pages of one outlet without a message in any queue, and returns their numbers. */
export async function storePages(
  database: Pick<TestDatabase, 'query'>,
  pages: Stored[],
  domain = 'dagkoerier.example',
): Promise<bigint[]> {
  await database.query(
    `insert into outlets (domain, name, country, languages, time_zone)
     values ($1, 'De Dagkoerier', 'NL', '{nl}', 'Europe/Amsterdam') on conflict do nothing`,
    [domain],
  )
  const numbers: bigint[] = []
  for (const { path, html, title, summary, status, rights } of pages) {
    const url = `https://www.${domain}${path}`
    const entry = { url, title, summary: summary ?? null, published: '2026-11-17T09:30:00+01:00' }
    const [row] = await database.query(
      `with page as (
         insert into pages (outlet_no, url, crawl_key, host, entry, state)
         select outlet_no, $1, $1, 'www.' || domain, $2, 'stored' from outlets where domain = $3
         returning page_no
       )
       insert into page_sources (page_no, final_url, status, content_type, body, fetched_at, rights)
       select page_no, $1, $4, 'text/html; charset=utf-8', $5, now(), $6 from page
       returning page_no`,
      [
        url,
        JSON.stringify(entry),
        domain,
        status ?? 200,
        html === null ? null : gzipSync(html),
        rights === undefined ? null : JSON.stringify(rights),
      ],
    )
    numbers.push(BigInt(String(row?.page_no)))
  }
  return numbers
}

/** The last sentence of every page. */
export const REPEATED =
  'De oppositie vindt dat het college veel te lang wacht en dreigt met een motie.'

/** An article's page with some sentences about its number. */
export function articlePage(title: string, about: string): string {
  const sentences = [
    `Over ${about} is dinsdag in de gemeenteraad urenlang gesproken, zonder dat er een besluit viel.`,
    `De wethouder zei dat ${about} voor het einde van het jaar terugkomt op de agenda.`,
    REPEATED,
  ]
  return `<!doctype html><html lang="nl"><head><title>${title}</title></head><body><article><h1>${title}</h1>${sentences
    .map(text => `<p>${text}</p>`)
    .join('')}</article></body></html>`
}

/** Waits until no page is left to normalise; throws with the states otherwise. */
export async function settle(database: TestDatabase, timeout: number): Promise<void> {
  const end = performance.now() + timeout
  for (;;) {
    const [row] = await database.query(
      "select count(*)::int as open from pages where state = 'stored'",
    )
    if (row?.open === 0) return
    if (performance.now() > end) {
      const states = await database.query(
        'select state, reason, detail, count(*)::int from pages group by 1, 2, 3',
      )
      throw new Error(`still open: ${JSON.stringify(states)}`)
    }
    await new Promise(resolve => setTimeout(resolve, 100))
  }
}

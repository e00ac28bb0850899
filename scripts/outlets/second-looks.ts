import { allDomains } from '#search/removals'
import { createCrawl } from '#services/crawler/crawl'
import { readHeld } from '#services/crawler/hosts/budgets'
import { askAgain, type DueLook } from '#services/crawler/second-looks'
import { type Judging, judgeAnswer } from '#services/normaliser/second-looks'
import type { Config } from '#shared/config/config'
import { createLogger } from '#shared/log/logger'

/** The most pages of an outlet that are asked for again in a day, where an operator asks for it. */
export const LOOKS_A_DAY = 100

/** How second looks ended. */
export interface Looks {
  asked: number
  gone: number
  refused: number
  blanked: number
  removed: number
  /** Pages whose host was visited, or had new pages, or whose outlet has used up its budget. */
  putOff: number
}

// $1 domain, $2 number of the outlet, $3 LOOKS_A_DAY. Refused ones come first where further
// refusals take them out, then those that were not asked for or not for long.
const DUE = `
  select a.seq, a.id, t.url, $2::int as "outletNo"
    from articles a join article_texts t using (seq) left join second_looks l on l.id = a.id
   where a.publisher_no in (select publisher_no from publishers where outlet = any ${allDomains('array[$1::text]')})
     and (l.id is null or l.looked_at < now() - interval '1 day')
   order by coalesce(l.pressing, false) desc, l.looked_at nulls first, a.seq desc
   limit greatest(0, $3 - (select count(*) from second_looks where outlet_no = $2 and looked_at > now() - interval '1 day'))`

/** Asks again for pages of an outlet, and judges what they answer. */
export async function lookAgain(
  looking: Judging & { config: Config },
  { domain, no }: { domain: string; no: number },
): Promise<Looks> {
  const { pool, config, signal } = looking
  const crawl = createCrawl({
    config,
    pool,
    queues: { async add() {} },
    log: createLogger('outlets', 'silent'),
    stopping: signal,
    ending: signal,
  })
  const looks = { asked: 0, gone: 0, refused: 0, blanked: 0, removed: 0, putOff: 0 }
  try {
    const { rows } = await pool.query<DueLook>(DUE, [domain, no, LOOKS_A_DAY])
    crawl.held = await readHeld(pool, config, new Set())
    for (const due of rows) {
      if (signal.aborted) break
      const brought = await askAgain(crawl, due, LOOKS_A_DAY)
      looks[brought === 'put off' ? 'putOff' : 'asked'] += 1
      const judged = brought === 'answer' ? await judgeAnswer(looking, due.id) : null
      if (judged?.word === 'gone' || judged?.word === 'refused') {
        looks[judged.word] += 1
        if (judged.deed === 'bounded') looks.blanked += 1
      }
      if (judged?.deed === 'removed') looks.removed += 1
    }
  } finally {
    crawl.leases.close()
    await crawl.parser.close()
    await crawl.asked.save(pool)
  }
  return looks
}

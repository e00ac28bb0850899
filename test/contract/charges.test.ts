import t from 'tap'
import type { Country } from '#shared/articles/article'
import { updateKey } from '#shared/plans/keys'
import { countOf } from '#shared/postgres/pool'
import { createRandom } from '#test/faults/random'
import { type Answered, ask, startTestApi } from './api.ts'

/*
 * A request whose answer is kept is charged by the statement that counts it. Random polls, searches
 * and refusals of one key meet new articles, changed plans and two processes.
 */
const SEED = Number(process.env.SEED ?? Date.now() % 1_000_000)
const ROUNDS = 60
const random = createRandom(SEED)
const api = await startTestApi(t)
const other = await api.another()

const BELGIAN = '/v1/articles?country=BE'
const BRIDGES = '/v1/articles?q=brug'
const PATHS = [BRIDGES, `${BRIDGES}&per_page=1`, '/v1/articles?q=niets', BELGIAN]
const WRONG = '/v1/articles?foo=1'
const COUNTRIES: Country[][] = [
  ['NL', 'BE', 'LU'],
  ['NL', 'LU'],
]

/** What the key may have now, and what the index has. */
const now = { quota: 300, countries: COUNTRIES[0]!, articles: 0, served: 0 }
const { key, secret } = await api.issue(now)

async function change(): Promise<void> {
  if (random.below(3) === 0) await api.index([{ title: `Een brug ${++now.articles}` }])
  if (random.below(3) > 0) return
  now.countries = random.pick(COUNTRIES)
  now.quota = now.served + random.below(60)
  await updateKey(api.pool, key.id, { plan: now })
}

/** The status of an answer that the month has a request for. */
function expectedOf(path: string): number[] {
  if (path === WRONG) return [422]
  return path === BELGIAN && !now.countries.includes('BE') ? [403] : [200, 304]
}

const isGood = ({ status }: Answered) => status < 400

t.test(`decision 5: a good answer costs one of the month, kept or not (SEED=${SEED})`, async t => {
  for (let round = 0; round < ROUNDS; round++) {
    await change()
    const path = random.pick([...PATHS, ...PATHS, WRONG])
    const answers = await Promise.all(
      Array.from({ length: 1 + random.below(12) }, () =>
        ask(`${random.pick([api, other]).base}${path}`, secret, {
          headers: random.below(3) === 0 ? { 'If-None-Match': '*' } : {},
        }),
      ),
    )
    const good = answers.filter(isGood)
    const left = good.map(({ headers }) => Number(headers.get('x-quota-remaining')))
    const counted = good.map((_, at) => now.quota - now.served - 1 - at)
    t.strictSame(
      left.sort((a, b) => b - a),
      counted,
      `${path} in round ${round}`,
    )
    now.served += good.length
    const used = 'select used from quota_months where key_id = $1'
    t.equal(await countOf(api.pool, used, [key.id]), now.served)
    const isUsedUp = now.served === now.quota
    const statuses = [...expectedOf(path), ...(isUsedUp ? [429] : [])]
    for (const { status, json } of answers) {
      t.ok(statuses.includes(status), `${status}`)
      if (status !== 200 || path === BELGIAN) continue
      t.equal(json.total_results, path.startsWith(BRIDGES) ? now.articles : 0)
    }
  }
})

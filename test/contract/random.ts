import type { Test } from 'tap'
import { makeSegments } from '#search/indexer'
import type { Plan } from '#shared/plans/keys'
import { createRandom, type Random } from '#test/faults/random'
import { readKnown } from '#test/search/known'
import { answer, type Question } from '#test/search/oracle'
import { randomQuestion } from '#test/search/questions'
import { longArticles, randomArticles } from '#test/search/random-articles'
import { startTestApi, type TestApi } from './api.ts'
import { type Asked, spell } from './spelling.ts'

const PLANS: Pick<Plan, 'countries' | 'history'>[] = [
  {
    countries: ['NL', 'BE', 'LU'],
    history: { kind: 'fixed', at: new Date('1990-01-01T00:00:00Z') },
  },
  { countries: ['LU', 'NL'], history: { kind: 'fixed', at: new Date('2020-02-29T00:00:00Z') } },
  { countries: ['BE'], history: { kind: 'fixed', at: new Date('2018-06-15T12:00:00.500Z') } },
]

export interface AskedOverHttp {
  answered: number
  refused: number
  found: number
  differences: string[]
}

/**
 * Sends random questions, each page of them in another spelling, under several plans, and compares
 * with the oracle what comes back as JSON and as a feed. Returns where they differ, and how many
 * were right and refused.
 *
 * @param hasLong whether some articles have hundreds of thousands of words
 */
export async function askOverHttp(
  test: Pick<Test, 'teardown'>,
  seed: number,
  questions: number,
  hasLong = true,
): Promise<AskedOverHttp> {
  const random = createRandom(seed)
  const api = await startTestApi(test)
  await api.index([...(hasLong ? longArticles(random) : []), ...randomArticles(random, 250)])
  const known = await readKnown(api.pool, 0n)
  const keys = await Promise.all(
    PLANS.map(async plan => ({ plan, secret: (await api.issue(plan)).secret })),
  )
  const differences: string[] = []
  const counts = { answered: 0, refused: 0, found: 0 }
  for (let number = 0; number < questions; number++) {
    if (number === Math.floor(questions / 2))
      await makeSegments(api.pool, { flushed: 16n, merged: 128n })
    const { plan, secret } = random.pick(keys)
    // Pages of one article are many requests.
    const drawn = {
      ...randomQuestion(random, known),
      perPage: random.pick([4, 13, 25, 25, 60, 100]),
    }
    const { question, asked } = plannedQuestion(drawn, plan, random.chance(0.6))
    // The contract refuses parts of names that are an accent alone.
    const isAccent = [drawn.outlet, drawn.author].includes('\u0301')
    const expected = isAccent ? null : (answer(known, question)?.ids ?? null)
    const complain = (what: string) =>
      differences.push(`question ${number}: ${what} ${JSON.stringify(asked)}`)
    const asking: Asking = { api, random, secret, asked, expected, complain }
    const query = spell(random, asked)
    counts.found += await comparePages(asking, query)
    counts[expected === null ? 'refused' : 'answered']++
    await compareFeed(asking, query, question.perPage)
  }
  return { differences, ...counts }
}

/** One question to the API. */
interface Asking {
  api: TestApi
  random: Random
  secret: string
  asked: Asked
  /** Ids in order, by the oracle; null: the question must be refused. */
  expected: string[] | null
  complain(what: string): void
}

/**
 * Reads all pages, each in another spelling, and compares them with the oracle's ids.
 *
 * @returns how many articles were found
 */
async function comparePages(
  { api, random, secret, asked, expected, complain }: Asking,
  query: string,
) {
  const ids: string[] = []
  const path = pathOf(random, asked)
  let cursor: string | null = null
  do {
    const page: string = cursor === null ? query : `${spell(random, asked)}&cursor=${cursor}`
    const { status, json } = await api.ask(secret, `${path}?${page}`)
    if (expected === null || status !== 200) {
      if (expected !== null || status !== 422)
        complain(`${status} ${JSON.stringify(json.errors)} for ${page}`)
      break
    }
    if (json.total_results !== expected.length)
      complain(`total ${json.total_results} of ${expected.length}`)
    ids.push(...json.articles.map((article: { id: string }) => article.id))
    cursor = json.next_cursor
  } while (cursor !== null)
  if (expected !== null && ids.join() !== expected.join())
    complain(`${ids} instead of ${expected}, ${query}`)
  return ids.length
}

async function compareFeed(
  { api, random, secret, asked, expected, complain }: Asking,
  query: string,
  perPage: number,
): Promise<void> {
  const feed = await api.ask(secret, `${pathOf(random, asked)}.rss?${query}`)
  const guids = [...feed.text.matchAll(/<guid isPermaLink="false">([^<]+)</g)].map(
    match => match[1],
  )
  const due = expected?.slice(0, perPage) ?? []
  if (feed.status !== (expected === null ? 422 : 200) || guids.join() !== due.join())
    complain(`feed: ${guids}`)
}

/**
 * Where a question may be asked: what lies beside the contract answers all as the contract does.
 */
const pathOf = (random: Random, { search, outlets, section, kinds, access }: Asked) =>
  search === 'expression' || (outlets ?? section ?? kinds ?? access) !== null || random.chance(0.3)
    ? '/explore/articles'
    : '/v1/articles'

/** A question as asked under a plan, and as the plan has it answered. */
function plannedQuestion(
  question: Question,
  { countries, history }: (typeof PLANS)[number],
  all: boolean,
) {
  const historyStart = history.kind === 'fixed' ? history.at : new Date(0)
  const named = question.countries.filter(country => countries.includes(country))
  const after = question.reach.publishedAfter
  const before = question.reach.publishedBefore
  const publishedAfter = after !== null && after < historyStart ? historyStart : after
  const reach = {
    historyStart,
    publishedAfter,
    publishedBefore: before !== null && before > (publishedAfter ?? historyStart) ? before : null,
  }
  const asked: Asked = { ...question, reach, countries: all || named.length === 0 ? null : named }
  // A blank value counts as not given (decision 11).
  const q = question.q?.trim() === '' ? null : question.q
  return { asked, question: { ...question, q, reach, countries: asked.countries ?? countries } }
}

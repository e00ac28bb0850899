import t from 'tap'
import { parseExpression } from '#search/index'
import type { SearchIndex } from '#search/types'
import { openArchiveIndex } from './archive-index.ts'
import { overheard } from './overheard.ts'
import { EVERYTHING } from './poller.ts'
import { newArticle } from './short-articles.ts'
import { makeTestSegments, openTestIndex } from './store.ts'

const BODIES = [
  'de brug is dicht',
  'brug open en niet dicht, bruggen gesloten',
  'gesloten kade',
  'de sluis is dicht',
  'oude brug bij de kade, sluis gesloten',
]

/** Each question, and its price on ten times these articles. */
const PRICES: [q: string, price: number][] = [
  ['brug dicht', 0],
  ['brug NEAR/3 dicht', 2 * 20],
  ['brug NEAR/3 (dicht OR gesloten)', 3 * 30],
  ['~bruggen NEAR/3 dicht', 2 * 20],
  // A phrase counts as its words, which all parts of the index know exactly.
  ['"bij brug" NEAR/3 sluis', 2 * 10],
  ['(brug NEAR/3 dicht) OR kade', 2 * 20],
  ['(brug NEAR/3 dicht) bruggen', 2 * 10],
  ['(brug NEAR/3 dicht) NOT open', 2 * 10],
  ['dicht NOT (brug NEAR/3 dicht)', 2 * 20],
  ['(brug NEAR/3 dicht) (brug NEAR/9 gesloten)', 2 * 10 + 2 * 10],
  ['title:(brug NEAR/3 dicht)', 0],
]

async function priceOf(index: SearchIndex, q: string): Promise<number[]> {
  const parsed = parseExpression(q)
  if (!parsed.ok) throw new Error(`${q}: ${parsed.errors.join(' ')}`)
  const query = { ...EVERYTHING, match: parsed.match, searchIn: 'title_body' as const, perPage: 1 }
  const prices: number[] = []
  const pace = {
    isDue: () => false,
    rest: async () => {},
    pay: async (price: number) => void prices.push(price),
  }
  const { next } = await index.search(query, null, { pace })
  if (next !== null) await index.search(query, next, { pace })
  await index.collect(query, () => ({ collect() {}, question: COUNT, isComplete: () => false }), {
    pace,
  })
  return [...new Set(prices)]
}

const COUNT = { kind: 'count' as const, limit: Infinity, take() {} }

// Held here: decision 50.
t.test('a search costs the same in memory, in segments, and again', async t => {
  const index = await openArchiveIndex(t)
  const articles = Array.from({ length: 50 }, (_, at) =>
    newArticle(at, { title: `Bericht ${at}`, body: BODIES[at % BODIES.length]! }),
  )
  const check = async (where: string) => {
    for (const opened of [openTestIndex(index.pool), openTestIndex(index.pool)]) {
      for (const [q, price] of PRICES)
        t.same(await priceOf(opened, q), price === 0 ? [] : [price], `${q} ${where}`)
      await opened.close()
    }
  }
  await index.add(articles.slice(0, 30))
  await makeTestSegments(index.pool, { flushed: 16n, merged: 256n })
  await index.add(articles.slice(30))
  await check('in segments and in memory')
  await makeTestSegments(index.pool, { flushed: 8n, merged: 32n })
  await check('in segments')
})

t.test('a search that would cost too much is refused before it begins', async t => {
  const index = await openArchiveIndex(t)
  const words = Array.from({ length: 60 }, (_, at) => `woord${at}`)
  const body = [...words, 'brug'].join(' ')
  await index.add(Array.from({ length: 1_700 }, (_, at) => newArticle(at, { body })))
  const opened = openTestIndex(index.pool)
  const q = (count: number) => `brug NEAR/1 (${words.slice(0, count).join(' OR ')})`
  t.same(await priceOf(opened, q(50)), [51 * 1_700])
  await t.rejects(priceOf(opened, q(60)), /too frequent/)
  t.same(await priceOf(opened, `(${q(60)}) nergens`), [])
  await opened.close()
})

t.test('a search ends at its next rest when nobody waits for it', async t => {
  const index = await openArchiveIndex(t)
  const body = 'de brug is na jaren weer dicht'
  await index.add(Array.from({ length: 600 }, (_, at) => newArticle(at, { body })))
  await makeTestSegments(index.pool, { flushed: 64n, merged: 256n })
  const heard = overheard(index.pool)
  const opened = openTestIndex(heard.db)
  const search = (left: boolean) => {
    const parsed = parseExpression('~bruggen NEAR/9 dicht')
    if (!parsed.ok) throw new Error('It is not read.')
    const rest = async () => {
      if (left && heard.names.includes('search-words')) throw new Error('left')
    }
    const query = { ...EVERYTHING, match: parsed.match, searchIn: 'title_body' as const }
    return opened.search(query, null, { pace: { isDue: () => true, rest } })
  }
  await t.rejects(search(true), /left/)
  const before = heard.names.filter(name => name === 'search-words').length
  t.equal(before, 1, 'statements that read words')
  t.equal((await search(false)).total, 600)
  t.ok(heard.names.filter(name => name === 'search-words').length > 3)
  await opened.close()
})

t.test('a search of articles that have no segment yet rests between them', async t => {
  const index = await openArchiveIndex(t)
  await index.add(Array.from({ length: 600 }, (_, at) => newArticle(at, { body: 'brug dicht' })))
  const opened = openTestIndex(index.pool)
  const parsed = parseExpression('~bruggen NEAR/9 dicht NOT "dicht brug"')
  if (!parsed.ok) throw new Error('It is not read.')
  let rests = 0
  const rest = async () => void rests++
  const query = { ...EVERYTHING, match: parsed.match, searchIn: 'title_body' as const }
  const { total } = await opened.search(query, null, { pace: { isDue: () => true, rest } })
  t.equal(total, 600)
  t.ok(rests >= 9, `${rests} rests`)
  await opened.close()
})

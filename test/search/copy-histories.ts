import type { Test } from 'tap'
import { createRandom } from '#bench/search/generator'
import { words } from '#search/analysis/index'
import { openImporter } from '#search/indexing/import'
import type { NewArticle } from '#search/types'
import { type Bound, boundArticles } from '#shared/articles/bounds'
import { openCopyGroups, openGroupCheck } from '#shared/copies/pass'
import { judge, leastCommon, sampleOf } from '#shared/copies/shingles'
import { createPool, transaction } from '#shared/postgres/pool'
import { createTestPool, PATIENT } from '#test/database'
import { newArticle, openTestWriter } from './short-articles.ts'

/*
 * Texts as desks edit them, by a recipe with a seed, and stars of them made from all pairs by the
 * definition's own words. The pass must agree, whatever the order of dates and whoever ends when.
 */

const { next, below, chance, one: pick } = createRandom(Number(process.env.SEED ?? 48))
const SYLLABLES =
  'ba de gro kel ver mon tis ré laf züg pol sta nim wor ecu dij hou prä sel tan'.split(' ')
const VOCABULARY = Array.from({ length: 900 }, () =>
  Array.from({ length: 1 + below(3) }, () => pick(SYLLABLES)).join(''),
)
export const sentence = (length: number): string =>
  Array.from({ length }, () => VOCABULARY[Math.floor(next() ** 2 * 900)]).join(' ')
const paragraphs = (count: number) => Array.from({ length: count }, () => sentence(12 + below(30)))
/** Lines of which the rules take no notice. */
export const IGNORED: string[] = [
  '(Belga)',
  'ANP/AFP',
  'Bron: ANP',
  'Lees ook: de brug gaat weer dicht',
  'À lire aussi : le pont',
  'Mehr zum Thema',
  '© 2026 Mediahuis. Alle rechten voorbehouden.',
]

const EDITS: ((text: string[]) => string[])[] = [
  text => text,
  text => text.slice(0, Math.max(1, Math.ceil(text.length * (0.4 + next() * 0.5)))),
  text => [sentence(20 + below(20)), ...text.slice(1)],
  text => {
    const from = pick(VOCABULARY)
    const to = pick(VOCABULARY)
    return text.map(one => one.replaceAll(` ${from} `, ` ${to} `))
  },
  text => [...text, ...paragraphs(1 + below(3))],
  text => [...paragraphs(3), ...text, ...paragraphs(3)],
  text => [...text.slice(0, 1), pick(IGNORED), ...text.slice(1), pick(IGNORED)],
  text => text.map(one => one.toUpperCase()),
]

interface Story {
  at: number | null
  outlet: string
  body: string | null
}

const DAY = 86_400_000
const START = Date.UTC(2026, 0, 1)

/** Texts as lists of paragraphs. */
export const generatedTexts = (count: number): string[][] =>
  Array.from({ length: count }, () => paragraphs(1 + below(9)))

/** Edited by chance, on 30 days. */
function stories(texts: string[][], count: number): Story[] {
  const wires = texts.map(text => ({ text, at: START + below(30 * DAY) }))
  return Array.from({ length: count }, () => {
    const wire = pick(wires)
    let text = wire.text
    for (let edits = below(6); edits > 0; edits--) text = pick(EDITS)(text)
    // Some lie on the bound, some a millisecond beyond.
    const apart = pick([0, 1, below(DAY), below(8 * DAY), 7 * DAY, 7 * DAY + 1, -below(9 * DAY)])
    const at = chance(0.03) ? null : wire.at + apart
    return { at, outlet: `krant${below(5)}.example`, body: chance(0.03) ? null : text.join('\n\n') }
  })
}

/** Each is a copy of the next alone. When the first leaves, all groups change. */
function chain(number: number): Story[] {
  const list = sentence(504).split(' ')
  const outlets = [0, 1, 2, 3, 4].map(n => `krant${n}.example`)
  return outlets.map((outlet, n) => ({
    at: START + number,
    outlet,
    body: list.slice(n * 76, n * 76 + 200).join(' '),
  }))
}

/** Distinct runs of five words, as strings; null: nothing is said of the story. */
function naiveShingles({ at, body }: Story): Set<string> | null {
  const lines = (body ?? '')
    .split('\n')
    .filter(line => !IGNORED.some(one => one.toLowerCase() === line.toLowerCase()))
  const list = lines.flatMap(line => words(line))
  const runs = new Set(list.slice(4).map((_, n) => list.slice(n, n + 5).join(' ')))
  return at === null || list.length < 60 || runs.size < 40 ? null : runs
}

const sketches = new WeakMap<Story, { size: number; sample: ReadonlySet<number> }>()
function sketchOf(story: Story): { size: number; sample: ReadonlySet<number> } {
  const known = sketches.get(story)
  const set = known ? null : judge(story.body)!
  const sketch = known ?? { size: set!.length, sample: new Set(sampleOf(set!)) }
  sketches.set(story, sketch)
  return sketch
}

/** Copies by the definition, and those whose samples do not show it: at most 1 in 1,000. */
const seen = { copies: 0, missed: 0 }
function isCandidate(one: Story, other: Story): boolean {
  const a = sketchOf(one)
  const b = sketchOf(other)
  const common = [...a.sample].filter(hash => b.sample.has(hash)).length
  const isMissed = common < leastCommon(Math.min(a.size, b.size))
  seen.copies++
  if (isMissed) seen.missed++
  return !isMissed
}

/** By place: the place of the first article; null: nothing is said. */
export function naiveStars(all: Story[], gone: ReadonlySet<number>): (number | null)[] {
  const firstsWith = new Map<string, number[]>()
  const sizes = new Map<number, number>()
  return all.map((story, n) => {
    const own = gone.has(n) ? null : naiveShingles(story)
    if (own === null) return null
    const common = new Map<number, number>()
    for (const run of own)
      for (const other of firstsWith.get(run) ?? []) common.set(other, (common.get(other) ?? 0) + 1)
    const isCopyOf = ([other, count]: [number, number]) => {
      const { at, outlet } = all[other]!
      const small = Math.min(own.size, sizes.get(other)!)
      const large = Math.max(own.size, sizes.get(other)!)
      if (Math.abs(at! - story.at!) > 7 * DAY) return false
      if (count / small < 0.6 || (story.outlet === outlet && count / large < 0.6)) return false
      return isCandidate(story, all[other]!)
    }
    const firsts = [...common].filter(isCopyOf).map(([other]) => other)
    if (firsts.length > 0) return Math.min(...firsts)
    sizes.set(n, own.size)
    for (const run of own) firstsWith.get(run)?.push(n) ?? firstsWith.set(run, [n])
    return n
  })
}

const dateOf = (at: number | null) => (at === null ? null : new Date(at))

const toArticle = ({ at, outlet, body }: Story, number: number): NewArticle =>
  newArticle(number, {
    title: `Bericht ${number}`,
    body,
    url: `https://${outlet}/${number}`,
    addresses: [`${outlet}/${number}`],
    outlet: { name: outlet, domain: outlet },
    publishedAt: number % 7 === 0 ? null : dateOf(at),
    ingestedAt: number % 7 === 0 ? dateOf(at) : null,
  })

/**
 * Writes edited texts as imports and crawlers do, beside passes that are cut or run at once; then
 * takes articles out, finds groups again, and damages them. Each time the groups are the naive
 * ones.
 */
export async function tryCopies(t: Test, texts: string[][], count: number): Promise<void> {
  const { database, pool } = await createTestPool(t)
  const { writer, indexer } = openTestWriter(pool, 3_600_000)
  const importer = openImporter({
    pool,
    writer,
    indexer,
    embedDelay: 3_600_000,
    ahead: 10,
    written() {},
  })
  const all = [...stories(texts, count), ...Array.from({ length: 10 }, (_, n) => chain(n)).flat()]
  const never = new AbortController().signal
  const gone = new Set<number>()
  const stored = async () => {
    const rows = await database.query(
      'select seq::int, first_seq::int as first from copy_sketches order by seq',
    )
    return rows.map(({ first }) => (first === null ? null : Number(first) - 1))
  }
  const agree = async (sentence: string) => t.same(await stored(), naiveStars(all, gone), sentence)

  const ofPasses = createPool(database.url, 'copies', () => {}, PATIENT)
  t.teardown(() => ofPasses.end())
  const open = () => openCopyGroups(ofPasses)
  const one = open()
  const other = open()
  for (let from = 0; from < all.length; ) {
    const to = from + 1 + below(count / 6)
    const articles = all.slice(from, to).map((story, n) => toArticle(story, from + n))
    if (chance(0.5)) await importer.add(articles).then(() => importer.flush())
    else
      for (let at = 0; at < articles.length; at += 90)
        await writer.write(articles.slice(at, at + 90))
    from = to
    const ends = new AbortController()
    const passes = pick([
      () => [one.pass(never)],
      () => [one.pass(never), other.pass(never)],
      () => [open().pass(never)],
      () => [],
    ])()
    if (chance(0.3)) ends.abort()
    await Promise.all([...passes, other.pass(ends.signal)])
    // A process that is lost in the middle: its transaction is not committed.
    if (chance(0.3)) {
      const cut = open()
        .pass(never)
        .catch(() => {})
      await database.query(
        `select pg_terminate_backend(pid, 10000) from pg_stat_activity
          where datname = current_database() and application_name ^@ 'perscope copies'`,
      )
      await cut
    }
  }
  await one.pass(never)
  const expected = naiveStars(all, gone)
  const sizes = new Map<number, number>()
  for (const first of expected) if (first !== null) sizes.set(first, (sizes.get(first) ?? 0) + 1)
  t.ok([...sizes.values()].filter(size => size > 2).length > 30, 'there are groups')
  t.ok(
    expected.filter(first => first === null).length > 30,
    'there are stories of which nothing is said',
  )
  await agree('after passes that were cut')

  for (let round = 0; round < 3; round++) {
    // First articles, mostly: others may then join one that was a member.
    const leaving = (await stored()).flatMap((first, n) =>
      n % 3 === round && chance(first === n ? 0.7 : 0.1) ? n : [],
    )
    for (const n of leaving) gone.add(n)
    await Promise.all([
      transaction(pool, async client => {
        const seqs = leaving.map(n => BigInt(n + 1))
        const { rows } = await client.query<Bound>(
          `select seq, id, null as "pageNo", null as snippet, true as "isBounded", false as "hasVector"
             from articles where seq = any ($1)`,
          [seqs],
        )
        await boundArticles(client, rows)
      }),
      pick([one, other]).pass(never),
    ])
    await one.pass(never)
    await agree(`after ${gone.size} were reserved`)
  }

  const places = () =>
    database.query('select seq, xmin::text, ctid::text from copy_sketches order by seq')
  const before = await places()
  const seqs = all.map((_, n) => BigInt(n + 1))
  t.ok(await open().regroup(seqs, never))
  t.same(await places(), before, 'found again under the same rules, no row changes')

  const check = async () => {
    const found: string[] = []
    const { next } = openGroupCheck(pool)
    for (let after: number | null = 0; after !== null; )
      after = await next(after, text => found.push(text), 1)
    return found
  }
  t.same(await check(), [], 'verify finds nothing')
  const member = '(select min(seq) from copy_sketches where first_seq <> seq)'
  const damage: [string, RegExp][] = [
    [
      `first_seq = (select max(seq) from copy_sketches where first_seq = seq)`,
      /stands in the group/,
    ],
    ['first_seq = seq', /is a first article, and a copy of/],
    ['first_seq = null', /is judged otherwise/],
    ['shingles = shingles + 1', /has the sketch of another text/],
    ['sample = substr(sample, 5)', /has the sketch of another text/],
    ["id = 'other'", /stands under the id other/],
  ]
  for (const [change, sentence] of damage) {
    const [{ seq } = {}] = await database.query(`select ${member}::int as seq`)
    await database.query(
      `create table undamaged as select * from copy_sketches where seq = ${seq};
       update copy_sketches set ${change} where seq = ${seq}`,
    )
    const said = (await check()).filter(text => text.startsWith(`article ${seq} `))
    t.match(said, [sentence], change)
    t.equal(said.length, 1, change)
    await database.query(
      `delete from copy_sketches where seq = ${seq};
       insert into copy_sketches select * from undamaged; drop table undamaged`,
    )
  }
  t.same(await check(), [], 'mended')

  await database.query(
    'update copy_sketches set first_seq = seq where seq % 3 = 0 and first_seq is not null',
  )
  await database.query('delete from copy_sketches where seq % 7 = 0')
  t.ok(await other.regroup(seqs, never))
  await agree('after damage')

  await database.query('update copies_state set rules = rules - 1')
  await one.pass(never)
  await agree('under new rules')
  t.ok(
    seen.missed <= 0.001 * seen.copies,
    `${seen.missed} of ${seen.copies} pairs of copies are no candidates`,
  )
  await database.query('update copies_state set rules = rules + 1, seq = 0')
  await one.pass(never)
  t.match(
    await database.query('select seq::int from copies_state'),
    [{ seq: 0 }],
    'those of a newer version are let be',
  )
}

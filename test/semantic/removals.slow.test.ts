import t from 'tap'
import { readSet } from '#services/api/semantic/candidate-sets'
import type { SemanticPosition } from '#services/api/semantic/query'
import { readColumn } from '#shared/postgres/pool'
import { removeArticles } from '#shared/removals/remove'
import { openVectorStore } from '#shared/vectors/qdrant-store'
import { runScript } from '#test/script'
import { createWorld, query, served } from './world.ts'

const world = await createWorld(t)
const { pool, env } = world
const vectors = openVectorStore(world.config)
await world.fleet.start('embedder')
const TITLES = [
  'brug over het kanaal',
  'brug over de rivier',
  'trein naar het zuiden',
  'brug dicht',
]
const seqs = await world.index(TITLES.map(title => ({ title })))
await world.embedded(TITLES.length)
const articles = (...words: string[]) => runScript('articles', words, env)
const verify = async () => JSON.parse((await runScript('verify', ['--json'], env)).out)

t.test('meaning finds no article that was taken out, and then its vector goes', async t => {
  const ask = async (perPage: number, after: SemanticPosition | null = null) => {
    const search = await world.openSearch()
    const { rows, next } = await search.search(query('brug', { perPage }), after)
    await search.close()
    return { next, titles: rows.map(({ title }) => title) }
  }
  const found = async () => (await ask(10)).titles.sort()
  const before = (await ask(10)).titles
  t.same([...before].sort(), [...TITLES].sort())
  const { next } = await ask(1)
  const [id = ''] = await readColumn<string>(pool, 'select id from articles where seq = $1', [
    seqs[1],
  ])
  await removeArticles(pool, [{ seq: seqs[1]!, id }], 'a court')
  const left = TITLES.filter((_, at) => at !== 1).sort()
  t.same(await found(), left)
  t.equal((await vectors.read(await served(world), seqs)).length, 4)
  t.match(await verify(), {
    ok: true,
    differences: [],
    notes: [/^1 removed article waits to be cleared/],
  })
  const sets = await readColumn<string>(pool, 'select set_id from semantic_sets')
  const setsWithIt = () =>
    readColumn<string>(pool, 'select set_id from semantic_sets where $1 = any (seqs)', [seqs[1]])
  t.not((await setsWithIt()).length, 0)
  const refused = await runScript('articles', ['clear'], { ...env, QDRANT_URL: '' })
  t.match(refused, { code: 2, err: /Set QDRANT_URL/ })
  const cleared = await articles('clear')
  t.match(cleared, { code: 0, err: /Nothing is left/ }, cleared.err)
  const stored = await vectors.read(await served(world), seqs)
  t.same(stored.map(({ seq }) => seq).sort(), [seqs[0], seqs[2], seqs[3]])
  t.same(await setsWithIt(), [])
  t.same(await found(), left)
  const kept = await readColumn<string>(
    pool,
    'select set_id from semantic_sets where set_id = any ($1) and cardinality(seqs) = 3',
    [sets],
  )
  t.same(kept.sort(), sets.sort(), 'what is left of a set stays')
  const rest = before.slice(1).filter(title => title !== TITLES[1])
  t.same((await ask(10, next)).titles, rest, 'and serves its cursors')
  // A search that ran beside it may store its set late.
  await pool.query("insert into semantic_sets values ('late', '', now(), $1, '{1}')", [[seqs[1]]])
  t.match(await articles('clear'), { code: 0 })
  t.same(await setsWithIt(), [])
  const nothing = { seqs: [], relevances: [] }
  t.same(await readSet(pool, 'late'), { id: 'late', candidates: nothing }, 'nothing is left of it')
  const { ok, differences, notes } = await verify()
  t.match({ ok, differences }, { ok: true, differences: [] })
  t.notMatch(notes.join(), 'to be cleared')
})

import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { verifyAll } from '#scripts/verify/checks'
import { createReport } from '#scripts/verify/report'
import { openVectorStore } from '#shared/vectors/qdrant-store'
import type { ArticleVector } from '#shared/vectors/store'
import { until } from '#test/fleet'
import { createWorld, served } from './world.ts'

const signal = new AbortController().signal
const world = await createWorld(t)
const { pool, config } = world
const TITLES = ['brug trein', 'school leraar', 'haven schip', 'boer stikstof']
await world.fleet.start('embedder')
await world.index(Array.from({ length: 40 }, (_, at) => ({ title: `${TITLES[at % 4]} ${at}` })))
await world.embedded(40)
const vectors = openVectorStore(config, 15_000)
const name = await served(world)

async function verified() {
  const report = createReport()
  await verifyAll(pool, config, report, { sample: null, progress() {}, signal })
  return report
}

/** Stores the vector of an article again, with other values. */
async function store(seq: bigint, change: Partial<ArticleVector>): Promise<void> {
  const [point] = await vectors.read(name, [seq])
  const { points } = await vectors.list(name, seq, 1)
  const { country: _, ...kept } = { ...points[0]!, vector: point!.vector }
  await vectors.upsert(name, [{ ...kept, country: 'NL', ...change }])
}

t.test(
  'vectors find themselves, also while others are written, and are those of their texts',
  async t => {
    let isOver = false
    const writing = (async () => {
      for (let round = 0; !isOver && round < 40; round++) {
        await world.index(Array.from({ length: 5 }, (_, at) => ({ title: `kade ${round} ${at}` })))
        await pause(100)
      }
    })()
    for (let looks = 0; looks < 5; looks++) {
      const report = await verified()
      t.same([report.lines(), report.notes], [[], []])
    }
    isOver = true
    await writing
  },
)

t.test(
  'a lost index, a vector with another country, time or text are named, and a start mends what it may',
  async t => {
    const waiting = 'select from embeddings where embedded_at is null'
    await until(async () => (await pool.query(waiting)).rowCount === 0, 60_000)
    await store(3n, { country: 'LU' })
    await store(4n, { coveredAt: 1 })
    const index = `${config.QDRANT_URL}/collections/${name}/index/covered_at`
    await fetch(index, { method: 'DELETE', headers: { 'api-key': config.QDRANT_API_KEY } })
    const report = await verified()
    t.match(report.lines(), [
      'vectors: 3 differences; a restart of the embedder mends that.',
      /article 3 has a vector with another country or time/,
      /article 4 has a vector with another country or time/,
      `  Qdrant has no index by covered_at in ${name}`,
    ])
    const before = new Date()
    await world.fleet.start('embedder')
    const stale =
      'select from embeddings where embedded_at is null or seq in (3, 4) and embedded_at < $1'
    await until(async () => (await pool.query(stale, [before])).rowCount === 0, 60_000)
    await until(async () => (await vectors.unindexed(name)).length === 0, 60_000)
    t.same((await verified()).lines(), [])
    await pool.query('delete from embeddings where seq > 8')
    const { points } = await vectors.list(name, 9n, 1_000)
    await vectors.remove(
      name,
      points.map(({ seq }) => seq),
    )
    const [other] = await vectors.read(name, [2n])
    await store(1n, { vector: other!.vector })
    const { kinds } = await verified()
    t.same(kinds.get('meaning')?.examples, ['article 1 has a vector of another text'])
    t.notOk(kinds.has('vectors'))
  },
)

import t from 'tap'
import { countOf } from '#shared/postgres/pool'
import { articlePage, storePages } from '#test/normaliser/stored'
import { createWorld } from '#test/semantic/world'
import { startTestServers } from '#test/servers'
import { slowDown } from './proxies.ts'

const LONG =
  'De gemeenteraad sprak dinsdagavond urenlang over de dijk, het water en de kosten van het onderhoud. '.repeat(
    14,
  )

t.test(
  'a model ten times too slow: articles wait, nobody is blamed, and all else goes on',
  async t => {
    const own = process.env.EMBEDDINGS_URL ? null : await startTestServers({ servers: ['model'] })
    const model = await slowDown(
      own?.addresses.EMBEDDINGS_URL ?? process.env.EMBEDDINGS_URL ?? '',
      10,
    )
    // So little patience that long texts do not come back in time, while short ones do.
    const world = await createWorld(null, {
      EMBEDDINGS_URL: model.url,
      EMBEDDINGS_API_KEY: own?.settings.EMBEDDINGS_API_KEY ?? process.env.EMBEDDINGS_API_KEY ?? '',
      EMBEDDINGS_MODEL: 'intfloat/multilingual-e5-small',
      EMBEDDINGS_TIMEOUT: '1500ms',
    })
    t.teardown(async () => {
      await world.close()
      await model.stop()
      await own?.stop()
    })
    const { fleet, pool } = world
    await fleet.start('api')
    const { key } = await fleet.makeKey('slow')
    const embedder = await fleet.start('embedder')
    await fleet.start('normaliser')
    await world.index(Array.from({ length: 8 }, () => ({ body: LONG })))
    await storePages(
      { query: async (sql, values) => (await pool.query(sql, values)).rows },
      Array.from({ length: 8 }, (_, at) => {
        const title = `Raad spreekt over dijk ${at}`
        return { path: `/nieuws/dijk-${at}`, html: articlePage(title, `dijk ${at}`), title }
      }),
    )

    const ask = async (query: string) => {
      const began = performance.now()
      const answer = await fetch(`${fleet.base()}/v1/articles?${query}`, {
        headers: { authorization: `Bearer ${key}` },
      })
      await answer.arrayBuffer()
      return { status: answer.status, ms: Math.round(performance.now() - began) }
    }
    const asked: { status: number; ms: number }[] = []
    const meaning: { status: number; ms: number }[] = []
    const indexed = () => countOf(pool, 'select count(*)::int from articles')
    const began = performance.now()
    const since = () => performance.now() - began
    while (since() < 8_000 || (since() < 60_000 && (await indexed()) !== 16)) {
      asked.push(await ask('q=dijk'), await ask('q=dijk&search=boolean'))
      meaning.push(await ask('q=hoog+water&search=semantic'))
      await new Promise(resolve => setTimeout(resolve, 400))
    }
    const slowest = (answers: typeof asked) => Math.max(...answers.map(({ ms }) => ms))
    t.comment(
      `${asked.length} searches by words, slowest ${slowest(asked)} ms; by meaning ${slowest(meaning)} ms`,
    )
    t.same(
      new Set(asked.map(({ status }) => status)),
      new Set([200]),
      'searches by words are answered',
    )
    t.ok(slowest(asked) < 5_000, 'soon')
    const isAnswered = meaning.every(({ status }) => status === 200 || status === 503)
    t.ok(isAnswered, 'those by meaning are answered or refused')
    t.equal(await indexed(), 16, 'what was stored meanwhile is indexed')
    t.ok(model.givenUp > 0, `${model.givenUp} requests were given up for their slowness`)

    model.factor = 1
    await world.embedded(16, 90_000)
    const blamed = await pool.query(
      'select max(attempts) as attempts, count(failed_at)::int as failed from embeddings',
    )
    t.same(blamed.rows, [{ attempts: 0, failed: 0 }], 'and all are embedded, no attempt used up')
    t.equal(embedder.process.exitCode, null)
  },
)

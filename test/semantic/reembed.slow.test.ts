import { QdrantClient } from '@qdrant/js-client-rest'
import t from 'tap'
import { openVectorStore } from '#shared/vectors/qdrant-store'
import { until } from '#test/fleet'
import { startScript } from '#test/script'
import { createWorld, query, type World } from './world.ts'

const reembed = (world: World, ...args: string[]) => startScript('reembed', args, world.env)

async function registered(
  world: World,
  state: string,
): Promise<{ name: string; model: string; filled_to: bigint } | undefined> {
  const { rows } = await world.pool.query<{ name: string; model: string; filled_to: bigint }>(
    'select name, model, filled_to from vector_collections where state = $1',
    [state],
  )
  return rows[0]
}

t.test(
  'a new model takes over without a search that fails, though it is killed on the way',
  async t => {
    const world = await createWorld(t)
    const vectors = openVectorStore(world.config, 5_000)

    const early = reembed(world, '--model', 'words-two')
    t.equal((await early.ended).code, 2, 'nothing to do before anything is embedded')

    const embedder = await world.fleet.start('embedder')
    await world.index(Array.from({ length: 200 }, (_, n) => ({ title: `nummer ${n}` })))
    await world.embedded(200)
    const old = await registered(world, 'serving')

    const search = await world.openSearch()
    const failures: unknown[] = []
    let searches = 0
    let searching = true
    const background = (async () => {
      while (searching) {
        await search
          .search(query(`nummer ${searches++}`), null)
          .catch(error => failures.push(error))
        await new Promise(resolve => setTimeout(resolve, 50))
      }
    })()

    const dry = reembed(world, '--model', 'words-two', '--dry-run')
    t.equal((await dry.ended).code, 0)
    t.match(dry.err(), /Would embed 200 articles/)

    world.model.delay = 20
    const killed = reembed(world, '--model', 'words-two')
    await until(
      async () => ((await registered(world, 'filling'))?.filled_to ?? 0n) > 0n,
      60_000,
      killed.err,
    )
    killed.child.kill('SIGKILL')
    await killed.ended
    const half = await registered(world, 'filling')
    t.ok(half && half.filled_to < 200n, 'it was killed on the way')

    await world.index(Array.from({ length: 10 }, (_, n) => ({ title: `nieuw ${n}` })))
    await world.embedded(210)
    const other = reembed(world, '--model', 'words-three')
    t.equal((await other.ended).code, 2, 'one at a time')

    world.model.delay = 0
    const asked = world.model.requests.length
    const finished = reembed(world, '--model', 'words-two', '--json')
    t.equal((await finished.ended).code, 0, finished.err())
    t.match(JSON.parse(finished.out()), { collection: half?.name, model: 'words-two', done: true })
    const again = world.model.requests
      .slice(asked)
      .filter(request => request.input.some(text => text === 'nummer 3'))
    t.equal(again.length, 0, 'what was done before it was killed is not done again')

    const now = await registered(world, 'serving')
    t.equal(now?.name, half?.name)
    t.equal(await vectors.count(now?.name ?? ''), 210, 'every article, the new ones too')
    await search.search(query('na de overgang'), null)
    await new Promise(resolve => setTimeout(resolve, 1_500))
    await search.search(query('lang na de overgang'), null)
    const last = world.model.requests.findLast(({ input }) =>
      input.some(text => text === 'lang na de overgang'),
    )
    t.equal(last?.model, 'words-two', 'searches are embedded by the model that serves')

    const client = new QdrantClient({
      url: world.env.QDRANT_URL ?? '',
      apiKey: world.env.QDRANT_API_KEY ?? '',
      checkCompatibility: false,
    })
    const { aliases } = await client.getAliases()
    const alias = aliases.find(one => one.alias_name === world.env.QDRANT_COLLECTION)
    t.equal(alias?.collection_name, now?.name, 'the alias follows')

    await world.index([{ title: 'daarna' }])
    await world.embedded(211)
    t.equal(await vectors.count(now?.name ?? ''), 211)
    await until(async () => (await vectors.count(old?.name ?? '')) === null, 60_000, embedder.log)
    t.pass('the old collection is removed')

    searching = false
    await background
    t.same(failures, [], `none of ${searches} searches failed`)

    const idle = reembed(world, '--model', 'words-two')
    t.equal((await idle.ended).code, 0)
    t.match(idle.err(), /serves already/)
    t.match(finished.err(), 'with words-two; ', 'the model is named')

    const anew = reembed(world, '--all', '--model', 'words-two', '--json')
    t.equal((await anew.ended).code, 0)
    t.match(JSON.parse(anew.out()), { articles: 211, done: true }, 'each is embedded once')
  },
)

import { setTimeout as pause } from 'node:timers/promises'
import fc from 'fast-check'
import t from 'tap'
import { makeSegments } from '#search/indexer'
import { statements } from '#services/api/standbys/servers'
import { boundArticles } from '#shared/articles/bounds'
import { createFeed, type FeedWithToken, revokeFeed } from '#shared/desk/feeds'
import { type ApiKey, revokeKey, updateKey } from '#shared/plans/keys'
import { transaction } from '#shared/postgres/pool'
import { type Answered, ask, startTestApi } from '#test/contract/api'
import { isWhole } from '#test/script'
import { type Door, openDoor } from './door.ts'
import { startTestCluster } from './servers.ts'

const cluster = await startTestCluster(1)
t.teardown(() => cluster.stop())
process.env.DATABASE_URL = cluster.url
process.env.TEST_SUPERUSER_URL = cluster.primary.in(cluster.url)
const standby = cluster.standbys[0]!
process.env.TEST_READ_URL = standby.in(cluster.url)

/** What an operator or a writer does, and whether the standby shows what the primary commits. */
type Deed = (typeof DEEDS)[number]
const CHANGES = ['revoke', 'shrink', 'end feed', 'withdraw'] as const
const DEEDS = ['write', 'write', 'write', 'flush', ...CHANGES, 'rest', 'lag', 'catch up'] as const

interface Round {
  before: Deed[]
  who: 'revocable' | 'shrinkable' | 'feed' | 'counts'
  /** Statements of the API that pass before all wait; null: none waits. */
  passing: number | null
  /** Deeds while they wait. */
  during: Deed[]
}

const deeds = fc.array(fc.constantFrom(...DEEDS), { maxLength: 4 })
/** A change, and an article after it. */
const pairs = fc.constantFrom(...CHANGES).map((change): Deed[] => [change, 'write'])
const parts = {
  before: deeds,
  who: fc.constantFrom<Round['who'][]>('revocable', 'shrinkable', 'feed', 'counts'),
  passing: fc.option(fc.nat(6)),
  during: fc.oneof(deeds, pairs),
}
const rounds = fc.array(fc.record(parts, { noNullPrototype: true }), { minLength: 1, maxLength: 6 })

/** A gate that an API's statements go through on their way to the primary. */
function createGate() {
  let passing = Infinity
  let opened = Promise.withResolvers<void>()
  return {
    async meet(): Promise<'pass'> {
      if (passing-- <= 0) await opened.promise
      return 'pass'
    },
    isShut: () => passing <= 0,
    shutAfter(statements: number) {
      passing = statements
    },
    open() {
      passing = Infinity
      opened.resolve()
      opened = Promise.withResolvers()
    },
  }
}

const gate = createGate()
let door: Door | null = null
const api = await startTestApi(
  t,
  { AUTH_LOCK_FAILURES: '1000000', SEARCH_TIMEOUT: '30s' },
  undefined,
  async url => {
    door = await openDoor(() => new URL(url), gate.meet)
    return door.to(url)
  },
)
t.teardown(() => door?.close())
/** How many articles there are; and there were when the snippet of one was withdrawn. */
let written = 0
const withdrawn = new Map<number, number>()

interface World {
  revocable: { key: ApiKey; secret: string }
  shrinkable: { key: ApiKey; secret: string }
  feed: FeedWithToken
  /** How many articles there were when it was done. */
  done: Partial<Record<'revoke' | 'shrink' | 'end feed', number>>
}

/** Keys and a feed of one history. */
async function openWorld(): Promise<World> {
  const revocable = await api.issue()
  const shrinkable = await api.issue()
  const owner = await api.issue()
  const feed = await createFeed(api.pool, owner.key.id, {
    search: 'sort=ingested_at&per_page=50',
    title: 'Alles',
  })
  const done: Partial<Record<'revoke' | 'shrink' | 'end feed', number>> = {}
  return { revocable, shrinkable, feed: feed!, done }
}

async function write(number: number): Promise<void> {
  const country = number % 2 === 0 ? 'NL' : 'BE'
  await api.index([{ title: `Artikel${number}-${country}`, body: `Inhoud${number}x`, country }])
}

async function withdraw(number: number): Promise<void> {
  const { rows } = await api.pool.query<{ seq: bigint; id: string }>(
    'select seq, id from articles where seq = $1',
    [number],
  )
  const bound = { ...rows[0]!, pageNo: null, snippet: null, isBounded: true, hasVector: true }
  await transaction(api.pool, client => boundArticles(client, [bound]))
}

async function run(world: World, deed: Deed): Promise<void> {
  const { done } = world
  if (deed === 'write') await write(++written)
  if (deed === 'flush') await makeSegments(api.pool, { flushed: 4n, merged: 16n })
  if (deed === 'rest') await pause(50)
  if (deed === 'lag') await standby.lag()
  if (deed === 'catch up') await standby.catchUp()
  if (deed === 'withdraw' && written > 0) {
    const number = Array.from({ length: written }, (_, at) => written - at).find(
      one => !withdrawn.has(one),
    )
    if (number === undefined) return
    await withdraw(number)
    withdrawn.set(number, written)
  }
  if ((deed !== 'revoke' && deed !== 'shrink' && deed !== 'end feed') || done[deed] !== undefined)
    return
  if (deed === 'revoke') await revokeKey(api.pool, world.revocable.key.id)
  if (deed === 'shrink')
    await updateKey(api.pool, world.shrinkable.key.id, { plan: { countries: ['NL'] } })
  if (deed === 'end feed') await revokeFeed(api.pool, world.feed.feed.id)
  done[deed] = written
}

const LIST = '/v1/articles?sort=ingested_at&order=desc&per_page=50'

function request({ revocable, shrinkable, feed }: World, who: Round['who']) {
  if (who === 'feed') return ask(`${api.base}/feeds/${feed.token}.json`, null)
  if (who === 'counts') return api.ask(revocable.secret, '/explore/counts?by=country')
  return api.ask(who === 'revocable' ? revocable.secret : shrinkable.secret, LIST)
}

/** What is older than the articles beside it; null: nothing is. */
function older({ done }: World, who: Round['who'], answer: Answered): string | null {
  if (![200, 401, 410].includes(answer.status))
    return `it is answered ${answer.status}: ${answer.text}`
  if (answer.status !== 200) return null
  const shown = [...answer.text.matchAll(/Artikel(\d+)-(\w\w)/g)].map(
    ([, number, country]) => [Number(number), country] as const,
  )
  const newest =
    who === 'counts'
      ? Number(answer.json.data.total ?? answer.json.total)
      : Math.max(0, ...shown.map(([number]) => number))
  const isAfter = (moment = Infinity) => newest > moment
  if ((who === 'revocable' || who === 'counts') && isAfter(done.revoke))
    return 'the key was revoked before'
  if (who === 'feed' && isAfter(done['end feed'])) return 'the feed was ended before'
  const isBelgian = shown.some(([, country]) => country === 'BE')
  if (who === 'shrinkable' && isBelgian && isAfter(done.shrink))
    return 'the plan was made smaller before'
  const snippets = [...answer.text.matchAll(/Inhoud(\d+)x/g)].map(([, number]) => Number(number))
  const old = snippets.filter(number => isAfter(withdrawn.get(number)))
  return old.length === 0 ? null : `the snippets of ${old} were withdrawn before`
}

async function live(history: Round[]): Promise<void> {
  const world = await openWorld()
  try {
    for (const { before, who, passing, during } of history) {
      for (const deed of before) await run(world, deed)
      if (passing !== null) gate.shutAfter(passing)
      const answering = request(world, who)
      for (let waited = 0; waited < 20 && passing !== null && !gate.isShut(); waited++)
        await pause(5)
      await pause(5)
      if (passing !== null) for (const deed of during) await run(world, deed)
      gate.open()
      const found = older(world, who, await answering)
      if (found !== null) throw new Error(`${who}: ${found}`)
    }
  } finally {
    gate.open()
    await standby.catchUp()
  }
}

t.test(
  'no key, plan, feed or snippet is older than the articles beside it, whatever waits or lags',
  async t => {
    const seed = Number(process.env.SEED ?? Date.now() % 1_000_000_000)
    const reads = async () =>
      (await statements.get()).values.find(({ labels }) => labels.server === 'standby')?.value ?? 0
    const before = await reads()
    const property = fc.asyncProperty(rounds, live)
    const result = await fc.check(property, {
      seed,
      numRuns: Number(process.env.RUNS ?? (isWhole ? 40 : 12)),
      interruptAfterTimeLimit: 200_000,
    })
    if (result.failed) t.fail(`${String(result.errorInstance)} ${fc.defaultReportMessage(result)}`)
    t.comment(`seed ${seed}, ${result.numRuns} histories`)
    t.ok((await reads()) > before, 'the standby was read')
  },
)

import { setTimeout as sleep } from 'node:timers/promises'
import { createTestDatabase, type TestDatabase } from '#test/database'
import { SITE_OUTLETS } from '#test/faults/site/outlets'
import { startSite } from '#test/faults/site/site'
import { createFleet, type Fleet, QUICK_CRAWL, until } from '#test/fleet'
import { type Loss, since, strike } from '#test/fleet/hosts/host'
import { masterOf, type RedisMember, startRedis } from '#test/fleet/parts/redis'
import type { Scenario, Stage } from './scenario.ts'

/** The promise: crawling goes on so soon after the master's host is lost. */
const GOES_ON_MS = 15_000
const PATIENCE_MS = 60_000
const QUIET_MS = 5_000
const PRINT_MS = 400
const LOOK_MS = 100

export const redis: Scenario = {
  name: 'redis',
  about:
    'Three hosts with Redis and Sentinel over TLS: the master is killed and paused under crawlers.',
  needsNamespaces: false,
  run: stage => survive(stage, ['killed', 'paused'], true),
}

export const redisLong: Scenario = {
  name: 'redis-long',
  about:
    'Three hosts with Redis and Sentinel: the master is killed, paused and cut off under crawlers, twice.',
  needsNamespaces: true,
  run: stage =>
    survive(stage, ['killed', 'paused', 'cut off', 'killed', 'paused', 'cut off'], false),
}

/** @param secured whether all connections to Redis and Sentinels use TLS */
async function survive(stage: Stage, losses: readonly Loss[], secured: boolean): Promise<void> {
  const { box, say } = stage
  const hosts = await Promise.all(['q1', 'q2', 'q3'].map(name => box.addHost(name)))
  const { members, settings } = await startRedis(box, hosts, secured)
  const database = await createTestDatabase()
  const fleet = createFleet({ ...settings, DATABASE_URL: database.url, ...QUICK_CRAWL })
  try {
    const crawl = await startCrawl(stage, fleet, database)
    say('Redis runs on three hosts, and crawlers and normalisers work.')
    try {
      for (const loss of losses) {
        await sleep(QUIET_MS)
        await lose(stage, members, loss, crawl)
      }
      await sleep(QUIET_MS)
    } finally {
      await crawl.rest()
    }
    await crawl.check()
    await ask(stage, fleet)
  } finally {
    await fleet.stop()
    await database.drop()
  }
}

/** A site that publishes all the time, and services that crawl it. */
async function startCrawl({ findings, figure }: Stage, fleet: Fleet, database: TestDatabase) {
  const site = await startSite(1)
  await fleet.sync(site.catalogue)
  for (const service of ['crawler', 'crawler', 'normaliser', 'normaliser'] as const)
    await fleet.start(service)
  let stopping = false
  let printed = 0
  let longest = 0
  const articles = () => database.count('articles')

  async function publish(): Promise<void> {
    for (let n = 0; !stopping; n++) {
      site.print(1, SITE_OUTLETS[n % SITE_OUTLETS.length])
      printed += 1
      await sleep(PRINT_MS)
    }
  }
  async function watch(): Promise<void> {
    for (let seen = await articles(), at = Date.now(); !stopping; await sleep(LOOK_MS)) {
      const now = await articles()
      longest = Math.max(longest, Date.now() - at)
      if (now > seen) [seen, at] = [now, Date.now()]
    }
  }

  site.print(3)
  printed += 3
  await until(async () => (await articles()) === printed, PATIENCE_MS, fleet.logs)
  const working = [publish(), watch()]
  return {
    /** ms without a new article since the last call, the longest one. */
    longest() {
      const since = longest
      longest = 0
      return since
    },
    async rest() {
      stopping = true
      await Promise.all(working)
    },
    async check() {
      await until(async () => (await articles()) === printed, PATIENCE_MS, fleet.logs).catch(
        async () => {
          findings.add(`${await articles()} of ${printed} articles are there.`)
        },
      )
      const doubled = await database.query(
        'select url from article_texts group by url having count(*) > 1',
      )
      if (doubled.length > 0) findings.add(`${doubled.length} articles are there twice.`)
      figure('articles crawled', printed)
      for (const { service, process: child } of fleet.members) {
        if (child.exitCode !== null) findings.add(`A ${service} has ended.`)
      }
      await site.close()
    },
  }
}

/** Loses the master's host, waits for the next master, and takes the host back as a replica. */
async function lose(
  { figure, findings, patience }: Stage,
  members: readonly RedisMember[],
  loss: Loss,
  crawl: { longest(): number },
): Promise<void> {
  const master = await masterOf(members)
  if (!master) throw new Error('There is no master to lose.')
  crawl.longest()
  const began = Date.now()
  const undo = await strike(master.host, loss)
  const isReplaced = async () => {
    const next = await masterOf(members.filter(member => member !== master))
    return next !== null && next !== master
  }
  await until(
    isReplaced,
    PATIENCE_MS,
    () => `No other master since ${master.host.name} was ${loss}.`,
  )
  figure(`${master.host.name} ${loss}: another master after`, since(began))
  // So long a former master that is only paused keeps its connections.
  await sleep(QUIET_MS)
  await undo()
  const isReplica = async () => {
    if ((await master.role()) === 'master' && (await master.takesWrites())) {
      // Unless the Sentinels have chosen it again meanwhile.
      const present = await masterOf(members)
      if (present !== master)
        findings.add(`${master.host.name} was ${loss}, came back as a master and takes writes.`)
    }
    return (await master.role()) === 'replica'
  }
  await until(isReplica, PATIENCE_MS, () => `${master.host.name} does not come back as a replica.`)
  figure(`${master.host.name} ${loss}: a replica again after`, since(began))
  const allTakePart = async () =>
    (await Promise.all(members.map(member => member.takesPart()))).every(Boolean)
  await until(
    allTakePart,
    PATIENCE_MS,
    () => `The Sentinel of ${master.host.name} takes no part after it was ${loss}.`,
  )
  const longest = crawl.longest()
  figure(
    `${master.host.name} ${loss}: longest time without a new article`,
    `${(longest / 1000).toFixed(1)} s`,
  )
  if (longest > GOES_ON_MS * patience) findings.add(`No new article came for ${longest} ms.`)
}

/** Commands and health know the queues that Sentinels lead to. */
async function ask({ findings }: Stage, fleet: Fleet): Promise<void> {
  const status: { queues?: Record<string, unknown> } = JSON.parse(
    await fleet.script('status', '--json'),
  )
  if (status.queues?.normalise === undefined)
    findings.add('`npm run status` does not show the queues.')
  await fleet.script('queues', 'drain', 'normalise')
  const { log } = await fleet.start('normaliser')
  const port = () => /"metrics":(\d+)/.exec(log())?.[1]
  const ready = async () => (await fetch(`http://127.0.0.1:${port()}/readyz`)).ok
  await until(ready, PATIENCE_MS).catch(() => findings.add('A normaliser does not become ready.'))
}

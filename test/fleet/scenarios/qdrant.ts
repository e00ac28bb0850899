import { setTimeout as sleep } from 'node:timers/promises'
import { SemanticUnavailable } from '#services/api/semantic/query'
import { countOf } from '#shared/postgres/pool'
import { openVectorStore } from '#shared/vectors/qdrant-store'
import { until } from '#test/fleet'
import { since } from '#test/fleet/hosts/host'
import { operatorsSettings } from '#test/fleet/parts/operators-file'
import {
  isWhole,
  pointsOnAllCopies,
  type QdrantNode,
  startQdrant,
  startQdrantProxy,
} from '#test/fleet/parts/qdrant'
import { createWorld, query, served, type World } from '#test/semantic/world'
import type { Scenario, Stage } from './scenario.ts'

const PATIENCE_MS = 60_000
/** The promise: an answer or 503 within two seconds. */
const ANSWER_MS = 2_000
const QUIET_MS = 4_000
/** Between two articles, for each host that is lost: there are enough for all of them. */
const FILL_MS = 250
/** Articles that are embedded while a host is away. */
const FILLED_MEANWHILE = 10
/** The settings that operators copy: with these a node may be lost. */
const { QDRANT_SHARDS = '', QDRANT_REPLICAS = '' } = operatorsSettings('systemd/perscope.env')
const SHARDS = Number(QDRANT_SHARDS)
const COPIES = Number(QDRANT_REPLICAS)
const ASKERS = 3
/** Fewer than the contract's 500, so that every search finds all that is embedded. */
const MOST = 480

export const qdrant: Scenario = {
  name: 'qdrant',
  about: 'Three hosts with Qdrant: one is killed while all ask and fill, then two.',
  needsNamespaces: false,
  run: stage => survive(stage, 1),
}

export const qdrantLong: Scenario = {
  name: 'qdrant-long',
  about: 'Three hosts with Qdrant: each is killed while all ask and fill, twice, then two at once.',
  needsNamespaces: false,
  run: stage => survive(stage, 6),
}

async function survive(stage: Stage, losses: number): Promise<void> {
  const { box, say } = stage
  const hosts = await Promise.all(['v1', 'v2', 'v3'].map(name => box.addHost(name)))
  const nodes = await startQdrant(box, hosts)
  const proxy = await startQdrantProxy(box, await box.addHost('app'), nodes)
  const world = await createWorld(null, { ...proxy, QDRANT_SHARDS, QDRANT_REPLICAS })
  try {
    await world.fleet.start('embedder')
    await world.index([{}, {}, {}])
    await world.embedded(3, PATIENCE_MS)
    const collection = await served(world)
    say('Qdrant runs on three hosts, and an embedder fills it.')
    const users = await startUsers(stage, world, FILL_MS * losses)
    try {
      for (let round = 0; round < losses; round++) {
        await sleep(QUIET_MS)
        await loseOne(stage, world, nodes, { node: nodes[(round + 1) % nodes.length], collection })
      }
      await sleep(QUIET_MS)
    } finally {
      await users.rest()
    }
    await users.tell()
    await compare(stage, world, nodes, collection)
    await loseTwo(stage, world, nodes, collection)
    await createWithOneAway(stage, world, nodes)
  } finally {
    await world.close()
  }
}

/** Those who fill and ask; every search must find all that was embedded before. */
async function startUsers({ findings, figure }: Stage, world: World, pause: number) {
  const search = await world.openSearch()
  let stopping = false
  let indexed = 3
  let asked = 0
  let slowest = 0
  async function fill(): Promise<void> {
    while (!stopping && indexed < MOST) {
      indexed += (await world.index([{}, {}])).length
      await sleep(pause)
    }
  }
  async function ask(asker: number): Promise<void> {
    for (let n = 0; !stopping; n++) {
      const there = await embeddedOf(world)
      const began = Date.now()
      try {
        const { total } = await search.search(query(`question ${asker} ${n}`), null)
        if (total < there) findings.add(`A search found ${total} of ${there} articles.`)
      } catch (error) {
        findings.add(
          `A search failed after ${Date.now() - began} ms: ${error instanceof Error ? error.message : error}`,
        )
      }
      asked += 1
      slowest = Math.max(slowest, Date.now() - began)
      await sleep(50)
    }
  }
  const working = [fill(), ...Array.from({ length: ASKERS }, (_, asker) => ask(asker))]
  return {
    async rest() {
      stopping = true
      await Promise.all(working)
    },
    async tell() {
      await world.embedded(indexed, PATIENCE_MS)
      figure('searches while hosts were lost', asked)
      figure('slowest of them', `${slowest} ms`)
      figure('articles embedded meanwhile', indexed)
    },
  }
}

/** Loses a node until some articles were embedded without it, and takes it back. */
async function loseOne(
  { figure }: Stage,
  world: World,
  nodes: readonly QdrantNode[],
  { node, collection }: { node: QdrantNode | undefined; collection: string },
): Promise<void> {
  if (!node) throw new Error('There is no such node.')
  const { host } = node
  const lost = Date.now()
  await host.crash()
  const before = await embeddedOf(world)
  const goesOn = async () => (await embeddedOf(world)) >= before + FILLED_MEANWHILE
  await until(goesOn, PATIENCE_MS, () => `Nothing is embedded while ${host.name} is away.`)
  figure(`${host.name} killed: ${FILLED_MEANWHILE} more articles embedded after`, since(lost))
  await host.boot()
  const booted = Date.now()
  const isBack = () => isWhole(nodes, collection, SHARDS * COPIES)
  await until(isBack, PATIENCE_MS, () => `The copies on ${host.name} do not come back.`)
  figure(`${host.name}: all copies active after its return`, since(booted))
}

const embeddedOf = ({ pool }: World) =>
  countOf(pool, 'select count(*)::int from embeddings where embedded_at is not null')

/** Every article must be on every copy of its shard. */
async function compare(
  { findings, figure }: Stage,
  world: World,
  nodes: readonly QdrantNode[],
  collection: string,
): Promise<void> {
  const { rows } = await world.pool.query<{ seq: bigint }>(
    'select seq from embeddings where embedded_at is not null',
  )
  let there = new Set<bigint>()
  const read = async () => {
    there = await pointsOnAllCopies(world.config.QDRANT_URL, collection)
    return true
  }
  // Nodes have connections to each other from before the loss, which fail once.
  await until(read, PATIENCE_MS, () => 'Qdrant does not compare its copies.')
  const lacking = rows.filter(({ seq }) => !there.has(seq))
  if (lacking.length > 0)
    findings.add(`${lacking.length} of ${rows.length} articles are not the same on all copies.`)
  const points = (await Promise.all(nodes.map(node => node.copies(collection)))).flat()
  const sum = points.reduce((all, copy) => all + copy.points, 0)
  if (sum !== rows.length * COPIES)
    findings.add(`The copies hold ${sum} points for ${rows.length} articles.`)
  figure('points on both copies', there.size)
}

/** With one copy of some shards away there is no answer: 503 in time, never a part. */
async function loseTwo(
  { findings, figure, patience }: Stage,
  world: World,
  nodes: readonly QdrantNode[],
  collection: string,
): Promise<void> {
  const search = await world.openSearch()
  const { total } = await search.search(query('before'), null)
  const lost = nodes.slice(1)
  await Promise.all(lost.map(({ host }) => host.crash()))
  let slowest = 0
  for (let n = 0; n < 40; n++) {
    const began = Date.now()
    const found = await search.search(query(`two away ${n}`), null).then(
      answer => answer.total,
      error => (error instanceof SemanticUnavailable ? null : Promise.reject(error)),
    )
    slowest = Math.max(slowest, Date.now() - began)
    if (found !== null && found < total)
      findings.add(`With two nodes away, a search found ${found} of ${total}.`)
    await sleep(100)
  }
  figure('two killed: slowest refusal', `${slowest} ms`)
  if (slowest > ANSWER_MS * patience)
    findings.add(`With two nodes away, a search took ${slowest} ms.`)
  await Promise.all(lost.map(({ host }) => host.boot()))
  await until(
    () => isWhole(nodes, collection, SHARDS * COPIES),
    PATIENCE_MS,
    'The copies do not come back.',
  )
  let n = 0
  const findsAll = async () =>
    (await search.search(query(`both back ${n++}`), null)).total === total
  await until(findsAll, PATIENCE_MS, () => 'Searches do not find everything again.')
}

async function createWithOneAway(
  { figure }: Stage,
  world: World,
  nodes: readonly QdrantNode[],
): Promise<void> {
  await nodes[2]?.host.crash()
  const vectors = openVectorStore(world.config, 15_000)
  const began = Date.now()
  await until(() => vectors.ensure('made-meanwhile', 4).then(() => true), PATIENCE_MS)
  figure('a collection made with one node away', since(began))
  await vectors.drop('made-meanwhile')
}

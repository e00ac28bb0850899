import { openArchive } from '#search/archive/archive'
import { openArchiveWriter, readArchiveHealth } from '#search/archive/writer'
import { openIndex, type SearchIndex } from '#search/index'
import { makeSegments } from '#search/indexer'
import { createRandom, type Random } from '#test/faults/random'
import { until } from '#test/fleet'
import { type Loss, strike } from '#test/fleet/hosts/host'
import { startOpensearch } from '#test/fleet/parts/opensearch'
import { openArchiveIndex } from '#test/search/archive-index'
import { difference } from '#test/search/comparison'
import type { Known } from '#test/search/oracle'
import { randomQuestion } from '#test/search/questions'
import { randomArticles } from '#test/search/random-articles'
import type { Scenario, Stage } from './scenario.ts'

const LIMIT_MS = 300_000
/** Questions that are answered while a host is away, and after it is back. */
const QUESTIONS = 25
const SIZES = { cap: 10_000, memory: { segment: 64n, words: 500 }, first: 100, prefetch: 100 }

/** Three hosts with OpenSearch. Each loss has another host. */
export const archive: Scenario = {
  name: 'archive',
  about:
    'Three hosts with the archive index: one is killed, paused and cut off, and no answer is wrong.',
  needsNamespaces: false,
  async run(stage) {
    const { box, say, seed, signal } = stage
    const hosts = await Promise.all(['one', 'two', 'three'].map(name => box.addHost(name)))
    const cluster = await startOpensearch(box, hosts, signal)
    say('OpenSearch runs on three hosts.')
    const nodes = cluster.nodes.map(node => node.url)
    const settings = { nodes, user: '', password: '', prefix: 'fleet', timeout: 60_000 }
    const index = await openArchiveIndex(null)
    const search = openIndex(index.pool, { elsewhere: openArchive(index.pool, settings) })
    const writer = openArchiveWriter(index.pool, settings, {
      size: 100n,
      recent: 20n,
      step: 40n,
      shards: 3,
      replicas: 1,
    })
    try {
      const random = createRandom(seed)
      const known = await index.add(randomArticles(random, 300))
      await makeSegments(index.pool, { flushed: 16n, merged: 64n })
      await writer.fill(async () => {}, signal)
      const isWhole = () =>
        until(cluster.isWhole, LIMIT_MS, () => 'OpenSearch does not get all copies back.')
      await isWhole()
      const askers = startAskers(stage, search, known, random)
      const losses: Loss[] =
        box.network.kind === 'loopback' ? ['killed', 'paused'] : ['killed', 'paused', 'cut off']
      for (const [at, loss] of losses.entries()) {
        const host = hosts[at]
        if (!host) throw new Error('There are too few hosts.')
        await askers.more()
        // Indices are built anew meanwhile; what a loss interrupts goes on with the same call.
        await writer.markStale()
        const filling = writer.fill(async () => {}, signal).catch(() => false)
        const undo = await strike(host, loss)
        say(`The host ${host.name} is ${loss}.`)
        const isNoticed = async () => (await readArchiveHealth(settings)).nodes === hosts.length - 1
        await until(
          isNoticed,
          LIMIT_MS,
          () => `The health of OpenSearch never lacks the host ${host.name}.`,
        )
        await askers.more()
        await undo()
        await filling
        await isWhole()
        if (!(await writer.fill(async () => {}, signal)))
          stage.findings.add(`The fill did not end after ${host.name} was back.`)
      }
      await askers.more()
      await askers.end()
    } finally {
      await search.close()
      await writer.close()
      await index.close()
    }
  },
}

/** Asks random questions, and holds every answer against the oracle's. */
function startAskers(
  { findings, figure }: Stage,
  search: SearchIndex,
  known: Known[],
  random: Random,
) {
  let asked = 0
  let slowest = 0
  let asking = true
  const ask = async () => {
    while (asking) {
      const question = { ...randomQuestion(random, known), perPage: random.pick([7, 100]) }
      const start = performance.now()
      const differs = await difference(search, known, question, SIZES).catch(
        (error: unknown) => `failed: ${error}`,
      )
      slowest = Math.max(slowest, performance.now() - start)
      if (differs !== null) findings.add(`A search ${differs}.`)
      asked++
    }
  }
  const running = [ask(), ask()]
  return {
    /** Resolves when so many more questions are answered. */
    async more() {
      const from = asked
      await until(
        () => asked >= from + QUESTIONS,
        LIMIT_MS,
        () => `${asked - from} questions were answered.`,
      )
    },
    async end() {
      asking = false
      await Promise.all(running)
      figure('questions', asked)
      figure('slowest, with all its pages', `${(slowest / 1000).toFixed(1)} s`)
    },
  }
}

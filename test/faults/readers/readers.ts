import { setTimeout as sleep } from 'node:timers/promises'
import type { Country } from '#shared/articles/article'
import type { Findings } from '#test/faults/findings'
import { createRandom, type Random } from '#test/faults/random'
import { TOPICS } from '#test/faults/site/site-article'
import type { Client } from './client.ts'
import { createPoller, type Poller } from './poller.ts'
import { readSequence, type Sequence } from './sequence.ts'

/** A poller and the country that it is limited to. */
export interface LimitedPoller extends Poller {
  country: Country | null
}

/** The articles and pages that the readers have received. */
export interface Reading {
  pollers: readonly LimitedPoller[]
  sequences: readonly Sequence[]
}

export interface Readers extends Reading {
  /** Begins nothing new but polls; resolves when the sequences have come to their end. */
  rest(): Promise<void>
  /** Ends the polls too. */
  stop(): Promise<void>
}

/** Sequences that are read at a time; each begins at a moment of chance. */
const SEQUENCES = 4

/**
 * Starts everything that reads: pollers by the contract, slow readers of frozen sequences, and
 * plain requests.
 */
export function startReaders(options: {
  seed: number
  client: Client
  apis: number
  findings: Findings
}): Readers {
  const { seed, client, apis, findings } = options
  const stopping = new AbortController()
  const pollers = [
    poller('a poller that keeps its place by page', 'page', null),
    poller('a poller that keeps its place by poll', 'poll', null),
    poller('a poller of Belgium', 'page', 'BE'),
  ]
  const sequences: Sequence[] = []
  const polling = pollers.map(each => each.run())
  const reading = Array.from({ length: SEQUENCES }, (_, lane) => readAlways(lane))
  const asking = Array.from({ length: apis }, (_, api) =>
    askAlways(client, api, createRandom(seed, `asker ${api}`), stopping.signal),
  )

  function poller(
    name: string,
    keepsPlace: 'page' | 'poll',
    country: Country | null,
  ): LimitedPoller {
    const random = createRandom(seed, name)
    const filter = country === null ? {} : { country }
    return {
      ...createPoller({ name, client, apis, random, findings, keepsPlace, filter }),
      country,
    }
  }

  async function readAlways(lane: number): Promise<void> {
    const random = createRandom(seed, `sequences ${lane}`)
    for (let count = 1; ; count++) {
      await sleep(random.between(500, 6_000), undefined, { signal: stopping.signal }).catch(
        () => {},
      )
      if (stopping.signal.aborted) return
      const sequence = await readSequence(
        `sequence ${lane}.${count}`,
        client,
        apis,
        random,
        findings,
      )
      if (sequence) sequences.push(sequence)
    }
  }

  return {
    pollers,
    sequences,
    async rest() {
      stopping.abort()
      await Promise.all([...reading, ...asking])
    },
    async stop() {
      for (const each of pollers) each.stop()
      await Promise.all(polling)
    },
  }
}

const PAUSE_MS = 350

/**
 * Sends one API requests of every kind, one after another, until `signal`; the client judges the
 * answers.
 */
async function askAlways(
  client: Client,
  api: number,
  random: Random,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    const q = random.pick(TOPICS)
    // The model has enough to do with articles.
    const semantic = random.chance(0.06)
    const query = random.pick<Record<string, string>>([
      {},
      { q },
      { q, search: 'boolean', search_in: 'title_body' },
      { country: 'BE,LU', has_author: 'true' },
      { outlet: 'baken', sort: 'ingested_at' },
    ])
    if (semantic)
      await client.page(api, new URLSearchParams({ q: `de kosten van ${q}`, search: 'semantic' }))
    else if (random.chance(0.2)) await client.feed(api, new URLSearchParams(query))
    else await client.page(api, new URLSearchParams(query))
    await sleep(PAUSE_MS)
  }
}

import { gauge, shared } from '../log/registry.ts'
import type { Pool } from '../postgres/pool.ts'
import { QUEUE_NAMES } from '../queues/messages.ts'
import type { QueueCounts, Queues } from '../queues/queues.ts'
import { type Flow, readFlow } from './flow.ts'
import { countQuarantine } from './quarantine.ts'

/**
 * Shows the open work between the services, read at each scrape. Every worker shows the same
 * figures, so that one living worker is enough. Take the maximum over the processes, not the sum.
 * Figures that cannot be read are left out.
 */
export function observeFleet(pool: Pool, queues: Pick<Queues, 'counts'>): void {
  const flow = shared(() => readFlow(pool))
  const counts = shared(() => queues.counts())
  const quarantine = shared(() => countQuarantine(pool))
  observeLooks(flow)

  gauge('articles', 'Articles in the index.', [], flow, (set, { articles }) => set({}, articles))
  gauge(
    'index_backlog_articles',
    'New articles that have no stored segment yet; every process that searches holds them in memory.',
    [],
    flow,
    (set, { index }) => set({}, index.backlog),
  )
  gauge('index_segments', 'Stored segments of the index.', [], flow, (set, { index }) => set({}, index.segments))
  gauge('vectors', 'Articles whose vector is stored.', [], flow, (set, { embedded }) => set({}, embedded))
  gauge('newest_article_age_seconds', 'Time since an article last became visible.', [], flow, (set, { newest }) => {
    if (newest !== null) set({}, Math.max(0, (Date.now() - newest.getTime()) / 1_000))
  })
  gauge(
    'pages_open',
    'Pages by what they wait for: later, fetch, normalise.',
    ['waits_for'],
    flow,
    (set, { pages }) => {
      set({ waits_for: 'later' }, pages.waiting - pages.due)
      set({ waits_for: 'fetch' }, pages.due)
      set({ waits_for: 'normalise' }, pages.stored)
    },
  )
  gauge('embeddings_open', 'Articles without a vector: promised for later, or due.', ['state'], flow, (set, flow) => {
    set({ state: 'promised' }, flow.embeddings.promised)
    set({ state: 'due' }, flow.embeddings.due)
  })
  gauge(
    'oldest_work_seconds',
    'How long the oldest work of a stage has been waiting.',
    ['stage'],
    flow,
    (set, flow) => {
      for (const [stage, age] of Object.entries(oldest(flow))) set({ stage }, age)
    },
  )
  gauge('queue_messages', 'Messages in the work queues.', ['queue', 'state'], counts, (set, all) => {
    for (const queue of QUEUE_NAMES) {
      for (const state of STATES) set({ queue, state }, all[queue][state])
    }
  })
  gauge(
    'quarantine',
    'What failed for good, by kind and reason.',
    ['kind', 'reason', 'ours'],
    quarantine,
    (set, all) => {
      for (const { kind, reason, ours, n } of all) set({ kind, reason, ours: String(ours) }, n)
    },
  )
}

/** Looks at pages that are done, and what they found. */
function observeLooks(flow: () => Promise<Flow>): void {
  gauge(
    'page_looks',
    'Looks at pages that are done, by what they wait for: later, look, compare.',
    ['waits_for'],
    flow,
    (set, { looks }) => {
      set({ waits_for: 'later' }, looks.planned)
      set({ waits_for: 'look' }, looks.due)
      set({ waits_for: 'compare' }, looks.compare)
    },
  )
  gauge(
    'pages_found',
    'Pages that looks found changed or gone in the last day; their articles stay as they are.',
    ['what'],
    flow,
    (set, { looks }) => {
      set({ what: 'changed' }, looks.changed)
      set({ what: 'gone' }, looks.gone)
    },
  )
}

const STATES = ['waiting', 'active', 'delayed', 'failed'] as const satisfies (keyof QueueCounts)[]

const oldest = ({ pages, embeddings }: Flow) => ({ normalise: pages.oldest, embed: embeddings.oldest })

import { type Bound, boundArticles } from '#shared/articles/bounds'
import type { Config } from '#shared/config/config'
import type { Quarantined } from '#shared/figures'
import { createLogger } from '#shared/log/logger'
import { counted, printableLine } from '#shared/log/printable'
import { type Pool, transaction } from '#shared/postgres/pool'
import { refuseWord, runCommand, UsageError } from '#shared/process/command'
import { openQueues, QUEUE_NAMES, type QueueName } from '#shared/queues/queues'
import { listQuarantine } from '#status/flow'
import {
  type Done,
  namedIn,
  plainId,
  readDone,
  readLeft,
  sayLeft,
  together,
} from './terminal/done.ts'
import { findTriable, retryPages } from './terminal/pages.ts'

const LIST_LIMIT = 1_000

/** Ids in the form of `listQuarantine`; null: everything in quarantine. */
type Ids = string[] | null

const numbersOf = (ids: Ids, kind: 'page' | 'embedding') =>
  ids?.filter(id => id.startsWith(`${kind}:`)).map(id => id.slice(kind.length + 1)) ?? null

await runCommand(
  {
    name: 'queues',
    words: true,
    about:
      'Lists pages and embeddings that failed for good (the quarantine), gives them back to the services or gives them up; exit code 1 when a named id is not there. `drain` empties a work queue; due work comes back from Postgres within a minute.',
    usage: [
      'list [--json]',
      'retry ID… | --all [--dry-run] [--json]',
      `drain ${QUEUE_NAMES.join('|')} [--dry-run] [--json]`,
      'drain quarantine ID… | --all [--dry-run] [--json]',
    ],
    options: {
      all: { about: 'everything in quarantine' },
      json: { about: 'one JSON object a line; with named ids also "ids" and "left"' },
      'dry-run': { about: 'says what would be done' },
    },
    needs: ['DATABASE_URL'],
  },
  async ({ config, positionals, options, say, print, openPool }) => {
    const [verb, ...rest] = new Set(positionals.map(plainId))
    const all = options.all === true
    const dryRun = options['dry-run'] === true
    const json = options.json === true
    /** Reports the work that was done, or that a dry run would have done. */
    const tell = (done: string, would: string, count: number, rest: string, fields: object) => {
      if (json) print(JSON.stringify({ ...fields, count, dry_run: dryRun }))
      else say(`${dryRun ? would : done} ${count}${rest}.`)
    }
    const pool = openPool()
    /** Does `work` for the ids in quarantine, or for all of it. Returns the exit code. */
    const onQuarantine = async (
      ids: string[],
      work: (pool: Pool, ids: Ids, dryRun: boolean) => Promise<Done>,
      [did, would]: [string, string],
      fields: object,
    ): Promise<number> => {
      const chosen = chosenIn(ids, all)
      const done = await work(pool, chosen, dryRun)
      const left = await readLeft(pool, ids, done, work === retryQuarantine)
      const of = left.length > 0 ? ` of ${ids.length}` : ''
      const named = chosen === null ? {} : { ids: done.ids, left }
      tell(did, would, done.count, `${of}${namedIn(done)}`, { ...fields, ...named })
      if (!json) sayLeft(left, say)
      return Number(left.length > 0)
    }
    switch (verb) {
      case 'list': {
        refuseWord(rest[0])
        const { things, count } = await readQuarantine(pool)
        for (const thing of things) print(json ? JSON.stringify(thing) : line(thing))
        return say(count === 0 ? 'Nothing is in quarantine.' : `${count} in quarantine.`)
      }
      case 'retry':
        return onQuarantine(rest, retryQuarantine, ['Gave back', 'Would give back'], {
          action: 'retry',
        })
      case 'drain': {
        if (rest[0] === 'quarantine')
          return onQuarantine(rest.slice(1), forgetQuarantine, ['Gave up', 'Would give up'], {
            action: 'drain',
            queue: 'quarantine',
          })
        const name = QUEUE_NAMES.find(known => known === rest[0])
        if (!name)
          throw new UsageError(`Name a queue: ${[...QUEUE_NAMES, 'quarantine'].join(', ')}.`)
        refuseWord(rest[1])
        const count = await drain(config, name, dryRun)
        return tell(
          'Removed',
          'Would remove',
          count,
          ` ${count === 1 ? 'message' : 'messages'} from ${name}`,
          {
            action: 'drain',
            queue: name,
          },
        )
      }
      default:
        throw new UsageError('Say list, retry or drain; see --help.')
    }
  },
)

/** The newest things in quarantine, and the number of all. */
async function readQuarantine(pool: Pool): Promise<{ things: Quarantined[]; count: number }> {
  const things = await listQuarantine(pool, LIST_LIMIT)
  return {
    things,
    count: things.length < LIST_LIMIT ? things.length : (await findQuarantined(pool, null)).count,
  }
}

/** The named ids; null: all. */
function chosenIn(ids: string[], all: boolean): Ids {
  if (all === ids.length > 0) throw new UsageError('Name ids as `list` prints them, or --all.')
  const wrong = ids.find(id => !/^(page|embedding):\d{1,18}$/.test(id))
  if (wrong !== undefined)
    throw new UsageError(`"${wrong}" is no id; they look like page:12 or embedding:7.`)
  return all ? null : ids
}

async function drain(config: Config, name: QueueName, dryRun: boolean): Promise<number> {
  const queues = openQueues(config, createLogger('queues', 'silent'), true)
  try {
    const { waiting, delayed } = (await queues.counts())[name]
    if (!dryRun) await queues.drain(name)
    return waiting + delayed
  } finally {
    await queues.close()
  }
}

function line({ id, since, reason, attempts, what, detail }: Quarantined): string {
  const below = detail ? `\n${' '.repeat(17)}${printableLine(detail)}` : ''
  return `${id.padEnd(16)} ${since}  ${reason} (${counted(attempts, 'attempt')})  ${printableLine(what)}${below}`
}

/** Which of these ids are in quarantine. */
function findQuarantined(pool: Pool, ids: Ids): Promise<Done> {
  return readDone(
    pool,
    `select 'page:' || page_no as id from pages where state = 'failed' and ($1::bigint[] is null or page_no = any($1))
      union all
     select 'embedding:' || seq from embeddings where failed_at is not null and ($2::bigint[] is null or seq = any($2))`,
    [numbersOf(ids, 'page'), numbersOf(ids, 'embedding')],
    ids !== null,
  )
}

/**
 * Returns pages and embeddings in quarantine to their services; their attempts count from zero
 * again. A page whose source is still stored goes to the normaliser, any other page to the crawler.
 */
async function retryQuarantine(pool: Pool, ids: Ids, dryRun: boolean): Promise<Done> {
  const pages = await (dryRun ? findTriable : retryPages)(pool, {
    outlet: null,
    state: 'failed',
    numbers: numbersOf(ids, 'page'),
  })
  const embeddings = await readDone(
    pool,
    dryRun
      ? `select 'embedding:' || seq as id from embeddings where failed_at is not null and ($1::bigint[] is null or seq = any($1))`
      : `update embeddings set failed_at = null, attempts = 0, error = null, claimed_until = null, due_at = least(due_at, now())
          where failed_at is not null and ($1::bigint[] is null or seq = any($1))
         returning 'embedding:' || seq as id`,
    [numbersOf(ids, 'embedding')],
    ids !== null,
  )
  return together(pages, embeddings)
}

/**
 * Gives up pages and embeddings in quarantine. A page stays known as refused, so that it is not
 * fetched again, unless an operator asks for it. An article without its embedding is found by
 * words, but not by meaning.
 */
async function forgetQuarantine(pool: Pool, ids: Ids, dryRun: boolean): Promise<Done> {
  if (dryRun) return findQuarantined(pool, ids)
  const pages = await readDone(
    pool,
    `update pages set state = 'refused' where state = 'failed' and ($1::bigint[] is null or page_no = any($1))
     returning 'page:' || page_no as id`,
    [numbersOf(ids, 'page')],
    ids !== null,
  )
  const embeddings = await transaction(pool, async client => {
    // Index: embeddings_failed
    const { rows } = await client.query<Bound>(
      `select seq, a.id, e.page_no as "pageNo", null as snippet, false as "isBounded", false as "hasVector"
         from embeddings e join articles a using (seq)
        where failed_at is not null and ($1::bigint[] is null or seq = any($1))`,
      [numbersOf(ids, 'embedding')],
    )
    await boundArticles(client, rows)
    return rows.map(({ seq }) => `embedding:${seq}`)
  })
  return together(pages, { count: embeddings.length, ids: embeddings })
}

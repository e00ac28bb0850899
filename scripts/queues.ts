import { type Bound, boundArticles } from '../shared/articles/bounds.ts'
import type { Config } from '../shared/config/config.ts'
import type { Quarantined } from '../shared/figures.ts'
import { createLogger } from '../shared/log/logger.ts'
import { counted, printableLine } from '../shared/log/printable.ts'
import { countOf, type Pool, transaction } from '../shared/postgres/pool.ts'
import { runCommand, UsageError } from '../shared/process/command.ts'
import { QUEUE_NAMES, type QueueName } from '../shared/queues/backend.ts'
import { openQueues } from '../shared/queues/queues.ts'
import { listQuarantine } from '../status/flow.ts'
import { retryPages } from './terminal/pages.ts'

const LIST_LIMIT = 1_000

/** Ids in the form of `listQuarantine`; null: everything in quarantine. */
type Ids = string[] | null

const numbersOf = (ids: Ids, kind: 'page' | 'embedding') =>
  ids?.filter(id => id.startsWith(`${kind}:`)).map(id => id.slice(kind.length + 1)) ?? null

await runCommand(
  {
    name: 'queues',
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
      json: { about: 'one JSON object a line' },
      'dry-run': { about: 'says what would be done' },
    },
    needs: ['DATABASE_URL'],
  },
  async ({ config, positionals, options, say, print, openPool }) => {
    const [verb, ...rest] = new Set(positionals)
    const all = options.all === true
    const dryRun = options['dry-run'] === true
    const json = options.json === true
    /** Reports the work that was done, or that a dry run would have done. */
    const tell = (done: string, would: string, count: number, rest: string, fields: object) => {
      if (json) print(JSON.stringify({ ...fields, count, dry_run: dryRun }))
      else say(`${dryRun ? would : done} ${count}${rest}.`)
    }
    const pool = openPool()
    switch (verb) {
      case 'list': {
        const { things, count } = await readQuarantine(pool)
        for (const thing of things) print(json ? JSON.stringify(thing) : line(thing))
        return say(count === 0 ? 'Nothing is in quarantine.' : `${count} in quarantine.`)
      }
      case 'retry': {
        const count = await onQuarantine(
          pool,
          rest,
          all,
          dryRun ? countQuarantined : retryQuarantine,
        )
        tell('Gave back', 'Would give back', count, ofThese(rest, count), { action: 'retry' })
        return codeOf(rest, count)
      }
      case 'drain': {
        if (rest[0] === 'quarantine') {
          const ids = rest.slice(1)
          const count = await onQuarantine(
            pool,
            ids,
            all,
            dryRun ? countQuarantined : forgetQuarantine,
          )
          tell('Gave up', 'Would give up', count, ofThese(ids, count), {
            action: 'drain',
            queue: 'quarantine',
          })
          return codeOf(ids, count)
        }
        const name = QUEUE_NAMES.find(known => known === rest[0])
        if (!name)
          throw new UsageError(`Name a queue: ${[...QUEUE_NAMES, 'quarantine'].join(', ')}.`)
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
    count: things.length < LIST_LIMIT ? things.length : await countQuarantined(pool, null),
  }
}

/** Applies `work` to the named ids in quarantine, or to all. */
async function onQuarantine(
  pool: Pool,
  ids: string[],
  all: boolean,
  work: (pool: Pool, ids: string[] | null) => Promise<number>,
): Promise<number> {
  if (all === ids.length > 0) throw new UsageError('Name ids as `list` prints them, or --all.')
  const wrong = ids.find(id => !/^(page|embedding):\d{1,18}$/.test(id))
  if (wrong !== undefined)
    throw new UsageError(`"${wrong}" is no id; they look like page:12 or embedding:7.`)
  return work(pool, all ? null : ids)
}

/** The end of the sentence when some of the named ids are not in quarantine. */
function ofThese(ids: string[], count: number): string {
  return count < ids.length ? ` of ${ids.length}; the others are not in quarantine` : ''
}

/** The exit code: 1 when a named id is not in quarantine. */
function codeOf(ids: string[], count: number): number {
  return Number(count < ids.length)
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

/** How many of these ids are in quarantine. */
function countQuarantined(pool: Pool, ids: Ids): Promise<number> {
  return countOf(
    pool,
    `select (select count(*)::int from pages where state = 'failed' and ($1::bigint[] is null or page_no = any($1)))
          + (select count(*)::int from embeddings where failed_at is not null and ($2::bigint[] is null or seq = any($2)))`,
    [numbersOf(ids, 'page'), numbersOf(ids, 'embedding')],
  )
}

/**
 * Returns pages and embeddings in quarantine to their services; their attempts count from zero
 * again. A page whose source is still stored goes to the normaliser, any other page to the crawler.
 *
 * @returns the number of returned pages and embeddings
 */
async function retryQuarantine(pool: Pool, ids: Ids): Promise<number> {
  const pages = await retryPages(pool, {
    outlet: null,
    state: 'failed',
    numbers: numbersOf(ids, 'page'),
  })
  const embeddings = await pool.query(
    `update embeddings set failed_at = null, attempts = 0, error = null, claimed_until = null, due_at = least(due_at, now())
      where failed_at is not null and ($1::bigint[] is null or seq = any($1))`,
    [numbersOf(ids, 'embedding')],
  )
  return pages + (embeddings.rowCount ?? 0)
}

/**
 * Gives up pages and embeddings in quarantine. A page stays known as refused, so that it is not
 * fetched again, unless an operator asks for it. An article without its embedding is found by
 * words, but not by meaning.
 *
 * @returns the number of pages and embeddings that were given up
 */
async function forgetQuarantine(pool: Pool, ids: Ids): Promise<number> {
  const pages = await pool.query(
    `update pages set state = 'refused' where state = 'failed' and ($1::bigint[] is null or page_no = any($1))`,
    [numbersOf(ids, 'page')],
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
    return rows.length
  })
  return (pages.rowCount ?? 0) + embeddings
}

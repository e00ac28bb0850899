import { createLogger } from '../shared/log/logger.ts'
import { createPool, type Pool } from '../shared/postgres/pool.ts'
import { runCommand, UsageError } from '../shared/process/command.ts'
import { QUEUE_NAMES } from '../shared/queues/names.ts'
import { openQueues } from '../shared/queues/queues.ts'
import { listQuarantine, type Quarantined } from '../shared/status/quarantine.ts'
import { retryQuarantine } from './queues/quarantine.ts'

const LIST_LIMIT = 1_000

await runCommand(
  {
    name: 'queues',
    about:
      'The quarantine: pages and embeddings that failed for good, listed and given back. `drain` empties a work queue; what is due comes back from Postgres within seconds.',
    usage: ['list [--json]', 'retry ID… | --all [--dry-run]', `drain ${QUEUE_NAMES.join('|')} [--dry-run]`],
    options: {
      all: { type: 'boolean', about: 'retry: everything in quarantine' },
      json: { type: 'boolean', about: 'one JSON object a line' },
      'dry-run': { type: 'boolean', about: 'says what would be done' },
    },
    needs: ['DATABASE_URL'],
  },
  async ({ config, positionals: [verb, ...rest], options, say, print }) => {
    const pool = createPool(config.DATABASE_URL, 'queues', () => {})
    try {
      switch (verb) {
        case 'list': {
          const things = await listQuarantine(pool, LIST_LIMIT)
          for (const thing of things) print(options.json === true ? JSON.stringify(thing) : line(thing))
          say(things.length === 0 ? 'Nothing is in quarantine.' : `${things.length} in quarantine.`)
          return
        }
        case 'retry':
          return say(await retry(pool, rest, options.all === true, options['dry-run'] === true))
        case 'drain': {
          const name = QUEUE_NAMES.find(known => known === rest[0])
          if (!name) throw new UsageError(`Name a queue: ${QUEUE_NAMES.join(', ')}.`)
          const queues = openQueues(config, createLogger('queues', 'silent'))
          try {
            const { waiting, delayed } = (await queues.counts())[name]
            if (options['dry-run'] !== true) await queues.drain(name)
            return say(
              `${options['dry-run'] === true ? 'Would remove' : 'Removed'} ${waiting + delayed} messages from ${name}.`,
            )
          } finally {
            await queues.close()
          }
        }
        default:
          throw new UsageError('Say list, retry or drain; see --help.')
      }
    } finally {
      await pool.end()
    }
  },
)

async function retry(pool: Pool, ids: string[], all: boolean, dryRun: boolean): Promise<string> {
  if (all === ids.length > 0) throw new UsageError('Name ids as `list` prints them, or --all.')
  const wrong = ids.find(id => !/^(page|embedding):\d{1,18}$/.test(id))
  if (wrong !== undefined) throw new UsageError(`"${wrong}" is no id; they look like page:12 or embedding:7.`)
  if (dryRun) {
    const known = await listQuarantine(pool, LIST_LIMIT)
    const count = all ? known.length : known.filter(({ id }) => ids.includes(id)).length
    return `Would give back ${count}.`
  }
  return `Gave back ${await retryQuarantine(pool, all ? null : ids)}.`
}

const line = ({ id, since, reason, attempts, what, detail }: Quarantined) =>
  `${id.padEnd(16)} ${since}  ${reason} (${attempts} attempts)  ${what}${detail ? `\n${' '.repeat(17)}${detail}` : ''}`

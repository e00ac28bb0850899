import { type Alert, listAlerts, retryAlerts } from '#shared/desk/alerts/alerts'
import { hostOf, messageId } from '#shared/desk/alerts/messages'
import { printableLine } from '#shared/log/printable'
import { type Pool, readColumn, readRow } from '#shared/postgres/pool'
import { refuseWord, runCommand, UsageError } from '#shared/process/command'
import { sayLeft } from './terminal/done.ts'
import { columns } from './terminal/terminal.ts'

const KNOWN = 'select alert_id from search_alerts where alert_id = any ($1)'

// Indexes: the primary keys, alert_messages_told.
const BESIDE = `
  select alert_id as id, name, (select count(*)::int from alert_messages m where m.alert_id = a.alert_id and delivered_at is null) as open
    from search_alerts a join kept_searches using (search_id)`

/** An alert as `list --json` shows it. */
interface ListedAlert {
  id: string
  key: string
  search: string
  name: string
  to: string
  when: string
  time_zone: string
  state: 'rests' | 'asked' | 'on'
  reason: string | null
  failing_since: string | null
  delivered_at: string | null
  open_messages: number
  dead_letters: number
}

const described = (
  { searchId, keyId, zone, ...one }: Alert,
  name: string,
  open: number,
): ListedAlert => ({
  id: one.id,
  key: keyId,
  search: searchId,
  name,
  to: one.to,
  when: one.when,
  time_zone: zone,
  state: one.rests !== null ? 'rests' : one.confirmedAt === null ? 'asked' : 'on',
  reason: one.rests ?? one.failure,
  failing_since: one.failingSince?.toISOString() ?? null,
  delivered_at: one.deliveredAt?.toISOString() ?? null,
  open_messages: open,
  dead_letters: one.rests !== null && one.failingSince !== null ? open : 0,
})

const HEAD = ['ALERT', 'STATE', 'WHEN', 'TO', 'KEY', 'SEARCH', 'REASON']
const STATES = { on: 'on', rests: 'rests', asked: 'waits for the consent of its owner' }

await runCommand(
  {
    name: 'alerts',
    words: true,
    about:
      'Lists the alerts of kept searches, and what failed; sends a test to one; has those that rest after failures try again. Exit code: 1 when a named alert does not.',
    usage: ['list [--json]', 'test ALERT', 'retry ALERT… | --all'],
    options: {
      all: { about: 'with retry: all alerts that rest after failures' },
      json: { about: 'with list: one JSON object a line' },
    },
    needs: ['DATABASE_URL'],
  },
  async ({ positionals: [verb, ...ids], options, print, say, openPool }) => {
    const pool = openPool({ max: 1 })
    switch (verb) {
      case 'list': {
        refuseWord(ids[0])
        const alerts = await readAlerts(pool)
        if (options.json) for (const one of alerts) print(JSON.stringify(one))
        else if (alerts.length > 0) print(columns([HEAD, ...alerts.map(lineOf)]))
        return say(alerts.length === 0 ? 'There is no alert.' : `${alerts.length} in all.`)
      }
      case 'test': {
        if (ids.length !== 1) throw new UsageError('Name one alert; list shows them.')
        await sendTest(pool, ids[0]!)
        return say('The notifier sends it a test; list shows whether that failed.')
      }
      case 'retry': {
        if ((ids.length === 0) !== (options.all === true))
          throw new UsageError('Name alerts, or write --all.')
        const again = await retryAlerts(pool, options.all ? null : ids)
        say(`Alerts that try again: ${again.length}.`)
        const left = [...new Set(ids)].filter(id => !again.includes(id))
        const known = await readColumn<string>(pool, KNOWN, [left])
        const why = (id: string) =>
          known.includes(id)
            ? 'does not rest after failures, or its owner has not agreed'
            : 'is unknown'
        sayLeft(
          left.map(id => ({ id: printableLine(id), why: why(id) })),
          say,
        )
        return Number(left.length > 0)
      }
      default:
        throw new UsageError('Write list, test or retry; see --help.')
    }
  },
)

/** @throws when there is no such alert, it was ended, or its owner has not agreed */
async function sendTest(pool: Pool, id: string): Promise<void> {
  const { rowCount } = await pool.query(
    `insert into alert_messages (message_id, alert_id, kind, seqs, more, host)
     select $2, alert_id, 'test', '{}', 0, ${hostOf('told_to')} from search_alerts where alert_id = $1 and confirmed_at is not null`,
    [id, messageId()],
  )
  if (rowCount === 0) {
    const known = 'select rests from search_alerts where alert_id = $1'
    const alert = await readRow<{ rests: string | null }>(pool, known, [id])
    if (alert === undefined) throw new Error(`There is no alert ${id}; list shows them.`)
    throw new Error(
      alert.rests === null
        ? `The address of alert ${id} has not agreed yet: its owner must open the link that it was sent.`
        : printableLine(`Alert ${id} rests: ${alert.rests}`),
    )
  }
}

/** Alerts, the names of their searches, and how many open messages each has. */
async function readAlerts(pool: Pool): Promise<ListedAlert[]> {
  const alerts = await listAlerts(pool, null)
  const { rows } = await pool.query<{ id: string; name: string; open: number }>(BESIDE)
  const beside = new Map(rows.map(row => [row.id, row]))
  return alerts.map(one => {
    const { name = '', open = 0 } = beside.get(one.id) ?? {}
    return described(one, name, open)
  })
}

function lineOf({ open_messages: open, ...one }: ListedAlert): string[] {
  const waits = open > 0 ? `, ${open} to be sent` : ''
  const state = `${STATES[one.state]}${waits}`
  return [one.id, state, one.when, one.to, one.key, one.name, one.reason ?? ''].map(printableLine)
}

import { readdir, stat, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { readRemovals } from '#scripts/backup/removals'
import { columns } from '#scripts/terminal/terminal'
import { addressHash, countSegments, firstDomain } from '#search/removals'
import { createLogger } from '#shared/log/logger'
import { counted, printableLine } from '#shared/log/printable'
import { countOf, type Pool, readRow, readValue } from '#shared/postgres/pool'
import { type CommandContext, sentenceOf, textOf, UsageError } from '#shared/process/command'
import { openQueues } from '#shared/queues/queues'
import { PLACES } from '#shared/removals/remove'
import { NAMED_ADDRESSES, SAMPLES } from '#shared/removals/samples'
import { STORES } from '#shared/removals/stores'

/*
 * The file that answers whom a removal concerns: what went, where, and when; what remains, and for
 * how long. It looks everywhere again. It tells no reason, which is for operators alone.
 */

/**
 * Further places, whose rows are all read: of the addresses of an article `t` that was taken out
 * only hashes are known.
 */
const READ_WHOLE = {
  'pages of its addresses, with what its outlet served': `
    pages p join outlets o using (outlet_no) cross join tombstone_key k join tombstone_addresses h
      on h.hash = ${addressHash(firstDomain('lower(o.domain)'), 'p.crawl_key')} where h.seq = t.seq`,
  'its addresses among those that sitemaps named': `
    ${NAMED_ADDRESSES} b join outlets o using (outlet_no) cross join tombstone_key k join tombstone_addresses h
      on h.hash = ${addressHash(firstDomain('lower(o.domain)'), 'b.crawl_key')} where h.seq = t.seq`,
  'samples of the planner': `(${SAMPLES}) s where coalesce(s.seq, t.seq) = t.seq`,
  'candidates of searches by meaning': 'semantic_sets where t.seq = any (seqs)',
}

interface Tombstone {
  number: bigint
  seq: bigint
  removedAt: Date
  clearedAt: Date | null
  releasedAt: Date | null
}

// $1 id. Index: tombstones_id_key.
const TOMBSTONE = `
  select number, seq, removed_at as "removedAt", cleared_at as "clearedAt", released_at as "releasedAt"
    from tombstones where id = $1`

// $1 number of the article. Index: alert_messages_seqs.
const TOLD = `
  select count(*) filter (where delivered_at is not null)::int as arrived, count(*) filter (where delivered_at is null)::int as waiting
    from alert_messages where kind = 'removed' and seqs @> array[$1::bigint]`

// $1 number of the article
const CITED = 'select count(*)::int from citations where seqs @> array[$1::bigint]'

/** The most files of before that are named. */
const NAMED = 100

/** Writes the file about a removal. @returns whether nothing is left that should have gone */
export async function prove(context: CommandContext, pool: Pool, id: string): Promise<boolean> {
  const { config, options, print, say } = context
  const tombstone = await readRow<Tombstone>(pool, TOMBSTONE, [id])
  if (tombstone === undefined)
    throw new UsageError(printableLine(`No article with the id ${id} was taken out.`))
  const { number, seq, removedAt, clearedAt, releasedAt } = tombstone
  const found: [what: string, left: number | string][] = []
  for (const [what, rows] of Object.entries({ ...PLACES, ...READ_WHOLE })) {
    const text = `select (select count(*)::int from ${rows}) from tombstones t where id = $1`
    found.push([what, await countOf(pool, text, [id])])
  }
  for (const [what, ask] of outside(pool, config, seq))
    found.push([what, await ask().catch(sentenceOf)])
  const segments = await countSegments(pool, seq, number)
  const told = (await readRow<{ arrived: number; waiting: number }>(pool, TOLD, [seq]))!
  const isDone = clearedAt !== null && segments.left === 0 && found.every(([, left]) => left === 0)
  const places = [
    ...found.map(([what, left]) => [
      what,
      typeof left === 'string'
        ? `NOT ASKED: ${left}`
        : left === 0
          ? 'none'
          : `STILL THERE: ${left}`,
    ]),
    [
      'segments of the index',
      `${segments.all} that had its number, ${segments.left === 0 ? 'without its words' : `${segments.left} STILL TO BE WRITTEN AGAIN`}`,
    ],
    [
      'messages of alerts that tell it',
      `${told.arrived} arrived, ${told.waiting} on their way; /explore/removals names it to all`,
    ],
  ]
  const cited = await countOf(pool, CITED, [seq])
  const checkedAt = new Date()
  const remains = [
    'Number, id, country, and the times of publication and removal: for good, so that it is not taken again.',
    'Hashes of texts that outlets served, by which shared texts are known: for good. They name no article.',
    releasedAt === null
      ? 'Its addresses as HMAC-SHA-256, from which nobody can read them: for good.'
      : `Its addresses are free since ${releasedAt.toISOString()}: a page there may be taken again, as another article.`,
    ...(cited === 0
      ? []
      : [
          `Its line in ${counted(cited, 'citation')}: id, times, and a hash of title, outlet and authors, from which nobody can read them: for good.`,
        ]),
    `Logs of before ${removedAt.toISOString()}, until they are deleted: those of crawlers and normalisers have its address, those of embedders its id, those of Postgres and of web servers may have both.`,
    'Bytes of deleted rows in files of Postgres, until new rows or VACUUM FULL replace them.',
    'The log of Postgres (pg_wal), also on standbys, until its files are removed: pg_switch_wal() and CHECKPOINT do that while wal_recycle is off.',
    ...(config.QDRANT_URL === ''
      ? []
      : [
          'Bytes of its vector, with id, country and time, in the files and the log (WAL) of Qdrant, until it writes them again or `npm run reembed -- --all` replaces them.',
        ]),
    ...(await copiesOf(pool, config.BACKUP_FOLDERS, tombstone, id)),
  ]
  const lines = [
    `Removal ${number}: the article with the id ${id}`,
    '',
    `It was taken out on ${removedAt.toISOString()}. Since then no search, page, count, feed or export shows it.`,
    '',
    `What was found of it on ${checkedAt.toISOString()}:`,
    '',
    ...columns(places).split('\n'),
    '',
    'What remains, and for how long:',
    '',
    ...remains.map(line => (line.startsWith('  ') ? line : `- ${line}`)),
  ].map(printableLine)
  const out = textOf(options, 'out')
  const path = resolve(out ?? `removal-${number}.txt`)
  const isPrinted = out === '-'
  const isWritten = !isPrinted && (out !== undefined || !options.json)
  if (isWritten)
    await writeFile(path, `${lines.join('\n')}\n`, { mode: 0o600 }).catch(error => {
      throw new UsageError(
        `${path} cannot be written (${sentenceOf(error)}): name a file with --out, or print it with --out -.`,
      )
    })
  if (options.json)
    print(
      JSON.stringify({
        number: Number(number),
        id,
        removed_at: removedAt,
        released_at: releasedAt,
        checked_at: checkedAt,
        done: isDone,
        found: Object.fromEntries(places),
        remains,
        file: isWritten ? path : null,
      }),
    )
  else if (isPrinted) for (const line of lines) print(line)
  if (isWritten) say(`Wrote ${path}.`)
  if (!isDone)
    say('Something is left, or was not asked: run `npm run articles -- clear`, then this.')
  return isDone
}

/** How often other stores than Postgres have something of an article. Each may not answer. */
const outside = (
  pool: Pool,
  config: CommandContext['config'],
  seq: bigint,
): [what: string, ask: () => Promise<number>][] => [
  ...Object.entries(STORES).map(([what, open]): [string, () => Promise<number>] => [
    what,
    async () => (await (await open(pool, config))?.count(seq)) ?? 0,
  ]),
  [
    'messages that are to make its vector',
    async () => {
      const queues = openQueues(config, createLogger('articles', 'silent'), true)
      const messages = await queues.messages('embed').finally(queues.close)
      return messages.filter(({ seqs }) => seqs.includes(String(seq))).length
    },
  ],
]

/** What backups have of it. The folders of a fleet are not on each of its machines. */
async function copiesOf(
  pool: Pool,
  folders: readonly string[],
  { removedAt }: Tombstone,
  id: string,
): Promise<string[]> {
  if (folders.length === 0)
    return ['Backups of before: this system does not know where they are (BACKUP_FOLDERS).']
  const installation = await readValue<string>(pool, 'select id from installation')
  const lines = folders.map(folder =>
    copiesIn(folder, removedAt, `${installation} ${id}`).catch(error => [
      `${folder} was NOT READ (${sentenceOf(error)}): run this again where it can be read.`,
    ]),
  )
  return (await Promise.all(lines)).flat()
}

/** @param name of the removal in the list of the folder */
async function copiesIn(folder: string, removedAt: Date, name: string): Promise<string[]> {
  const { listed } = await readRemovals([folder])
  const list = listed.has(name)
    ? `The list in ${folder} names it: a restore of an older backup takes it out again.`
    : `The list in ${folder} DOES NOT NAME IT: run \`npm run articles -- clear\`.`
  const files = await readdir(folder, { recursive: true })
  // Another program may remove a file meanwhile.
  const times = await Promise.all(
    files.map(async file => ({ file, at: await stat(join(folder, file)).catch(() => null) })),
  )
  const before = times.flatMap(({ file, at }) =>
    at?.isFile() && at.mtime < removedAt ? `  ${file}, of ${at.mtime.toISOString()}` : [],
  )
  if (before.length === 0) return [list, `No file of before in ${folder}.`]
  const some = before.length > NAMED ? `; the first ${NAMED}` : ''
  const head = `${counted(before.length, 'file')} of before in ${folder} may have it, until deleted${some}:`
  return [list, head, ...before.slice(0, NAMED)]
}

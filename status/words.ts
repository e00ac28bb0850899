import type {
  Machines,
  Manners,
  OutletCompleteness,
  OutletDay,
  OutletHealth,
  OutletOrigins,
  Standby,
} from '#shared/figures'

/*
 * Writes figures as words for `/status` and the commands. The page in browsers imports this file,
 * so it needs no modules of Node.
 */

let format: Intl.NumberFormat | undefined

/** Writes 1234567 as "1,234,567". To make the format takes 30 ms, so not every start makes it. */
function whole(n: number): string {
  format ??= new Intl.NumberFormat('en-GB')
  return format.format(n)
}

/** Writes 1234567 as "1.23 M". Numbers below a million are written in full: "123,456". */
export const number = (n: number): string =>
  n < 1_000_000 ? whole(n) : `${(n / 1_000_000).toFixed(n < 10_000_000 ? 2 : 1)} M`

export const plural = (n: number, one: string, many = `${one}s`): string =>
  `${number(n)} ${n === 1 ? one : many}`

/** Writes bytes in one unit of thousands: "512 B", "1.2 MB". */
export function bytes(n: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB']
  const unit = Math.min(units.length - 1, n < 1 ? 0 : Math.floor(Math.log10(n) / 3))
  return `${short(n / 1_000 ** unit)} ${units[unit]}`
}

/** Writes seconds in one unit: "40 s", "12 min", "3.5 h", "9 days". */
export function span(seconds: number): string {
  if (seconds < 90) return `${short(seconds)} s`
  if (seconds < 5_400) return `${Math.round(seconds / 60)} min`
  if (seconds < 129_600) return `${short(seconds / 3_600)} h`
  return `${short(seconds / 86_400)} days`
}

const short = (n: number) => (n < 10 ? String(Math.round(n * 10) / 10) : whole(Math.round(n)))

/** The time since an instant. `now` is in ms, by the server's clock. */
export const ago = (instant: string | Date, now: number): string =>
  `${span(Math.max(0, (now - new Date(instant).getTime()) / 1_000))} ago`

const percent = (share: number) => `${Math.round(share * 100)} %`

/** `indexed` of `named`, and the share if sitemaps give a second count. */
function completenessInWords({ named, indexed, share, second }: OutletCompleteness): string {
  if (named === 0) return 'nothing named'
  const both = `${number(indexed)} of ${number(named)}`
  return share === null
    ? `${both}${second === null ? ', counted once' : ''}`
    : `${both} (${Math.floor(share * 100)} %)`
}

/** How complete the latest days of an outlet are: "today 312 of 318 (98 %)". */
export const daysInWords = ({ days }: Pick<OutletHealth<unknown>, 'days'>, now: number): string[] =>
  days.map(
    one =>
      `${dayInWords(one, now)} ${one.unread > 0 ? 'not read' : completenessInWords(one)}${one.gap ? ', a gap' : ''}`,
  )

const dayInWords = ({ day }: OutletDay, now: number) =>
  day === new Date(now).toISOString().slice(0, 10) ? 'today' : 'yesterday'

/** How we asked an outlet: "1,204 requests (800 unchanged, 2 failed), 12 MB". */
export function mannersInWords(manners: Manners | undefined): string {
  if (manners === undefined) return '–'
  const { requests, unchanged, errors, bytes: sent } = manners
  return `${plural(requests, 'request')} (${number(unchanged)} unchanged, ${number(errors)} failed), ${bytes(sent)}`
}

/** The problems of an outlet that an operator should know. */
export function troublesOf(outlet: OutletHealth<string | Date>, now: number): string[] {
  const {
    feeds,
    failingFeeds,
    failures,
    error,
    blocks,
    rights,
    licence,
    putOff,
    late,
    restsUntil,
    gaps,
    origins,
    unread,
  } = outlet
  return [
    failingFeeds > 0
      ? `${failingFeeds} of ${plural(feeds, 'feed')} failing, ${failures} in a row: ${error ?? ''}`
      : '',
    unread === null ? '' : unreadInWords(unread),
    blocks.map(({ kind, pages }) => `${kind} ${number(pages)}×`).join(', '),
    rights.length === 0 ? '' : `states ${rights.map(right => rightInWords(right, now)).join(', ')}`,
    licence === null || rights.length === 0 ? '' : `licensed: ${licence}`,
    gaps === null
      ? ''
      : `a feed rolled on unseen ${number(gaps.count)}×, last ${ago(gaps.to, now)}`,
    late > 0 ? `${plural(late, 'page')} late${restsUntil === null ? '' : ', rests'}` : '',
    putOff > 0 ? `${plural(putOff, 'page')} on new hosts put off` : '',
    origins.falls.map(fall => `worse sources of ${fallInWords(fall)}`).join(', '),
  ].filter(trouble => trouble !== '')
}

/** Pages that cannot be read, in words: `its last 3 tries at pages failed: the answer is not HTTP`. */
export const unreadInWords = ({ tries, reason }: NonNullable<OutletHealth['unread']>): string =>
  `the last ${number(tries)} tries at its pages failed: ${reason}`

/** A right in words: `noindex (meta, 12 min ago)`. */
const rightInWords = ({ signal, source, lastAt }: OutletHealth['rights'][number], now: number) =>
  `${signal} (${source}, ${ago(lastAt, now)})`

/** A field that comes from worse sources than before: `date: json-ld 90 % → 40 %`. */
const fallInWords = ({ field, source, before, now }: OutletOrigins['falls'][number]) =>
  `${field}: ${source} ${percent(before)} → ${percent(now)}`

/** For fields whose sources differ between outlets: the most frequent source. */
export function sourcesOf({ origins }: OutletHealth<string | Date>): string {
  const main = ['date', 'authors', 'text'].flatMap(
    field => origins.shares.find(share => share.field === field) ?? [],
  )
  return main.map(({ field, source, share }) => `${field} ${source} ${percent(share)}`).join(', ')
}

/** A line about a server. */
export interface ServerLine {
  what: string
  /** Shown in small letters after `what`. */
  more?: string
  /** `bad`: an operator should look at it. `none`: the part does not exist. `hint`: advice. */
  tone?: 'bad' | 'none' | 'hint'
}

/** The lines of each known server and its copies. */
export function serversInWords(machines: Machines): { server: string; lines: ServerLine[] }[] {
  const { postgres, vectors, redis, archiveIndex } = machines
  const servers = [
    { server: 'Postgres', lines: postgres && postgresLines(postgres) },
    { server: 'Qdrant', lines: vectors && vectorLines(vectors) },
    { server: 'Redis', lines: redis && redisLines(redis) },
    { server: 'Archive index', lines: archiveIndex && archiveLines(archiveIndex) },
  ]
  return servers.flatMap(({ server, lines }) =>
    lines === null ? [] : { server, lines: lines.filter(isLine) },
  )
}

/** Lines of a server; false: no line is needed. */
type Lines = (ServerLine | false)[]
const isLine = (line: ServerLine | false) => line !== false

type Known<Part extends keyof Machines> = NonNullable<Machines[Part]>

function postgresLines({
  host,
  role,
  mayLook,
  standbys,
  slots,
  archive,
}: Known<'postgres'>): Lines {
  const hidden = 'How far standbys are is hidden from this account: grant pg_monitor to it.'
  return [
    { what: host ?? 'local socket', more: role },
    ...standbys.map(standbyLine),
    standbys.length === 0 && { what: 'no standby', tone: 'none' },
    !mayLook && standbys.length > 0 && { what: hidden, tone: 'hint' },
    ...slots.map(({ name, active, heldBytes, lost }) => ({
      what: `slot ${name}`,
      more: lost ? 'lost' : `${active ? 'in use' : 'not in use'}, ${bytes(heldBytes)} of log kept`,
    })),
    archive === null
      ? { what: 'log is not archived', tone: 'none' }
      : archive.failing
        ? { what: 'archive of the log fails', tone: 'bad' }
        : { what: 'log is archived' },
  ]
}

function standbyLine({ name, host, state, sync, lagBytes, lagSeconds }: Standby): ServerLine {
  const words = [
    sync ? 'standby, commits wait for it' : 'standby',
    state === 'streaming' ? null : state,
    lagBytes === null ? null : behind(lagBytes),
    lagSeconds === null || lagSeconds < 1 ? null : span(lagSeconds),
  ]
  return { what: host ?? name ?? 'a standby', more: words.filter(word => word !== null).join(', ') }
}

const behind = (lag: number) => (lag === 0 ? 'up to date' : `${bytes(lag)} behind`)

function vectorLines({ nodes, unreachable, shards }: Known<'vectors'>): Lines {
  const copies = shards.flatMap(shard => shard.copies)
  const idle = copies.filter(({ state }) => state !== 'Active')
  const bad = (what: string): ServerLine => ({ what, tone: 'bad' })
  return [
    nodes.length === 0
      ? { what: 'a single node, without copies', tone: 'none' }
      : { what: nodes.join(', '), more: plural(nodes.length, 'node') },
    shards.length > 0 && {
      what: `${plural(shards.length, 'shard')} in ${plural(copies.length, 'copy', 'copies')}`,
      ...(idle.length === 0 && { more: 'all active' }),
    },
    idle.length > 0 &&
      bad(idle.map(({ node, state }) => `${node} ${state.toLowerCase()}`).join(', ')),
    unreachable.length > 0 && bad(`not reached: ${unreachable.join(', ')}`),
  ]
}

const redisLines = ({ host, role, replicas }: Known<'redis'>): Lines => [
  { what: host ?? 'local socket', more: role },
  ...replicas.map(one => ({
    what: one.host,
    more: `replica, ${one.online ? behind(one.lagBytes) : 'not connected'}`,
  })),
  replicas.length === 0 && { what: 'no replica', tone: 'none' },
]

function archiveLines({ indices, articles, backlog, health }: Known<'archiveIndex'>): Lines {
  const head: Lines = [
    { what: plural(articles, 'article'), more: `in ${plural(indices, 'index', 'indices')}` },
    backlog > 0 && { what: `${plural(backlog, 'article')} due` },
  ]
  if (health === null) return [...head, { what: 'OpenSearch does not answer', tone: 'bad' }]
  const { nodes, active, unassigned } = health
  const copies = `${plural(active, 'copy', 'copies')} of shards${unassigned === 0 ? ', none missing' : ''}`
  return [
    ...head,
    { what: plural(nodes, 'node'), more: copies },
    unassigned > 0 && { what: `${plural(unassigned, 'copy', 'copies')} missing`, tone: 'bad' },
  ]
}

/**
 * Whether all processes share one host, no server has a copy of its data on another host, and there
 * is no archive index.
 */
export function isOneMachine({ hosts, postgres, vectors, redis, archiveIndex }: Machines): boolean {
  const hasStandbys =
    postgres !== null && (postgres.role === 'standby' || postgres.standbys.length > 0)
  // A slot or a log archive is no second machine, but it can fill the disk of the only machine.
  const keepsLog = postgres !== null && (postgres.slots.length > 0 || postgres.archive !== null)
  const hasNodes = vectors !== null && vectors.nodes.length > 0
  const hasReplicas = redis !== null && (redis.role === 'replica' || redis.replicas.length > 0)
  const hasCopies = hasStandbys || hasNodes || hasReplicas || archiveIndex !== null
  return (hosts?.length ?? 0) <= 1 && !keepsLog && !hasCopies
}

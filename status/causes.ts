import {
  type ArchiveIndexFigures,
  backIsLate,
  type Cause,
  embeddingsAreLate,
  type Figures,
  type Flow,
  keptInWords,
  looksAreLate,
  type Machines,
  type OutletHealth,
  type PostgresServers,
  pagesAreLate,
  type RedisServers,
  removalsAreLate,
  type Surroundings,
  type VectorNodes,
} from '#shared/figures'
import { counted } from '#shared/log/printable'
import { LATE, type Missing } from '#shared/process/health'
import first from './first.json' with { type: 'json' }
import type { AlertFigures } from './flow.ts'
import { bytes, span, unreadInWords } from './words.ts'

/**
 * For each fault, the first thing that an operator should do (`first.json`). The sentences of
 * `cause` say what is wrong and why, then this. `npm start`, `npm run status`, `npm run doctor`,
 * `/status`, the logs and the annotations of alarms all use these words.
 */
export const FIRST: Readonly<typeof first> = first

/** By reason (`reasonOf`): the first thing to do when a server answers but refuses us. */
const FIRST_OF_REASON: Partial<Record<string, (address: string, secret: string) => string>> = {
  'has no connection left': () => FIRST.connections,
  'has no database of that name': () => FIRST.createdb,
  'refuses our account or key': (_address, secret) => `mend ${secret}`,
  'agrees with us on no TLS': address => `mend the scheme or sslmode of ${address}, or TLS_CA_FILE`,
  'has a host name that nobody knows': address => `mend the host in ${address}, or the name server`,
}

/** The facts from which `causesOf` finds causes. */
export type Facts = Pick<
  Figures<Date | string>,
  | 'at'
  | 'flow'
  | 'running'
  | 'machines'
  | 'queues'
  | 'outlets'
  | 'quarantine'
  | 'around'
  | 'missing'
  | 'unread'
> & {
  /** Daily budgets that outlets have used up, such as `pages of a.example`. */
  spent?: string[]
  /** Empty settings that search by meaning needs. */
  unset?: string[]
  /**
   * Why each dependency in `missing` is missing. Without a reason, the dependency does not answer.
   */
  reasons?: Missing
  /** Services that restart again and again. */
  restarting?: string[]
  /** Queues from which no process takes messages. */
  stalled?: string[]
  alerts?: AlertFigures | null
}

/** The causes that the facts show, the worst first. */
export function causesOf(facts: Facts): Cause[] {
  const { around, flow, machines, at } = facts
  const found = [
    ...ofDependencies(facts),
    ...(around === null ? [] : ofSurroundings(around)),
    ...ofServices(facts),
    ...(machines === null ? [] : ofMachines(machines)),
    ...(flow === null ? [] : ofFlow(flow, at)),
    ...ofOutlets(facts),
    ...ofRest(facts),
  ]
  return found.filter(one => one !== false).sort((a, b) => RANK[a.level] - RANK[b.level])
}

/** Whether a cause says that Postgres does not answer. Then most checks could not be made. */
export const isWithoutDatabase = ({ check, level, text }: Cause): boolean =>
  check === 'database' && level === 'bad' && !text.includes(FIRST.standby)

const UNREAD = 'Could not be read in time: '
/**
 * Checks of what a process sees around it. Where any part is unread, these may be unread, too, and
 * no cause says it.
 */
const AROUND = ['migrations', 'index', 'clock', 'disk', 'names']
/** Parts of the facts (`Facts.unread`), and the checks that need them. */
const READ_FROM: Record<string, readonly string[]> = {
  flow: ['articles', 'normaliser', 'embedder', 'removals', 'looks', 'back', 'ends'],
  running: ['services'],
  processes: ['services'],
  machines: ['machines', 'database', 'queues'],
  outlets: ['outlets', 'network', 'names'],
  alerts: ['alerts', 'services'],
}

/** The checks that cannot be made where a part of the facts is unread. */
export const checksOf = (part: string): readonly string[] => READ_FROM[part] ?? [part]

/**
 * Returns whether a cause may go on though it is not among these, because nobody could see it. That
 * something could not be read is always seen.
 */
export function hiddenBy(causes: readonly Cause[]): (cause: Cause) => boolean {
  if (causes.some(isWithoutDatabase)) return () => true
  const unread = causes.filter(({ text }) => text.startsWith(UNREAD))
  const parts = unread.map(({ text }) => text.slice(UNREAD.length).split(':')[0]!)
  const checks = new Set(unread.length === 0 ? [] : [...parts.flatMap(checksOf), ...AROUND])
  return ({ check, text }) => checks.has(check) && !text.startsWith(UNREAD)
}

/** The causes that a check has found; false: the check has found no fault. */
type Found = (Cause | false)[]

const RANK = { bad: 0, warn: 1 }
const cause = (level: Cause['level']) => (check: string, what: string, first: string) => ({
  check,
  level,
  text: `${what}: ${first}.`,
})
const bad = cause('bad')
const warn = cause('warn')

function ofDependencies({ missing, reasons = {}, unset = [] }: Facts): Found {
  const of = (
    name: string,
    check: keyof typeof FIRST,
    what: string,
    address: string,
    secret = address,
  ) => {
    const why = reasons[name] ?? 'does not answer'
    const first =
      FIRST_OF_REASON[why]?.(address, secret) ?? FIRST[why.startsWith(LATE) ? 'late' : check]
    return missing.includes(name) && !unset.includes(address) && bad(check, `${what} ${why}`, first)
  }
  const meaning = 'Search by meaning is out of order, because'
  const notSet = `${unset.join(' and ')} ${unset.length === 1 ? 'is' : 'are'} not set`
  return [
    of('postgres', 'database', 'Postgres', 'DATABASE_URL', 'account and password in DATABASE_URL'),
    of(
      'redis',
      'queues',
      'The Redis of the queues',
      'REDIS_URL',
      'the password in REDIS_URL, or REDIS_PASSWORD',
    ),
    of('vectors', 'qdrant', `${meaning} Qdrant`, 'QDRANT_URL', 'QDRANT_API_KEY'),
    of(
      'model',
      'model',
      `${meaning} the model`,
      'EMBEDDINGS_URL',
      'EMBEDDINGS_API_KEY or EMBEDDINGS_TOKEN',
    ),
    of('mail', 'mail', 'Alerts are not told by mail, because the mail server', 'SMTP_URL'),
    unset.length > 0 &&
      warn('qdrant', `There is no search by meaning, because ${notSet}`, FIRST.unset),
  ]
}

/** How many items of a long list are named. */
const NAMED = 3
const SECONDS_AHEAD = 5
const DAYS_LEFT = 7
const CERTIFICATE_DAYS = 14
/** A disk with fewer free bytes counts as full, because Postgres needs room for its log. */
const FULL_BYTES = 64 * 1024 * 1024
const FULL_SHARE = 0.05
const MEMORY_SHARE = 0.05

function ofSurroundings(around: Surroundings): Found {
  const { databaseFull, index, rules, names, certificates } = around
  return [
    ofSchema(around),
    databaseFull === true &&
      bad('disk', 'Postgres cannot write, because its disk is full', FIRST.disk),
    ofDisk(around),
    ...(index ?? [])
      .slice(0, NAMED)
      .map(fault => bad('index', `The index is damaged: ${fault}`, FIRST.index)),
    ...(rules ?? []).map(text =>
      warn('index', `Old articles may not be found: ${text}`, FIRST.rules),
    ),
    ...ofMachine(around),
    names !== null &&
      names.lie !== null &&
      bad(
        'names',
        `The name server answers falsely: it knows ${names.lie}, which nobody has`,
        FIRST.lie,
      ),
    resolveNone(names) &&
      bad('names', `No name of an outlet resolves, as ${names?.example}`, FIRST.names),
    ...absentOf(names).map(host =>
      warn('names', `The name ${host} of a feed in the catalogue has no address`, FIRST.absent),
    ),
    ...(certificates ?? []).map(ofCertificate),
  ]
}

/** That a name server has no address for a single name is no fault of that server. */
const resolveNone = (names: Surroundings['names']): boolean =>
  names !== null &&
  names.failed > 0 &&
  names.failed === names.asked &&
  (names.asked > 1 || names.absent.length === 0)

const absentOf = (names: Surroundings['names']): string[] =>
  names === null || resolveNone(names) ? [] : names.absent

function ofSchema({ schema }: Surroundings): Cause | false {
  if (schema === null) return false
  const { database, checkout, lacks } = schema
  const at = `The database is at migration ${database}, and this checkout is at ${checkout}`
  if (database > checkout) return bad('migrations', at, FIRST.checkout)
  if (database < checkout) return bad('migrations', at, FIRST.schema)
  return (
    lacks.length > 0 && bad('migrations', `The database lacks ${lacks.join(', ')}`, FIRST.schema)
  )
}

function ofMachine({ memory: { free, total }, clockAhead }: Surroundings): Found {
  const away = Math.abs(clockAhead ?? 0)
  const how = (clockAhead ?? 0) > 0 ? 'ahead of' : 'behind'
  return [
    free < total * MEMORY_SHARE &&
      warn(
        'memory',
        `The machine has ${bytes(free)} of ${bytes(total)} of memory left`,
        FIRST.memory,
      ),
    away > SECONDS_AHEAD &&
      bad('clock', `The clock of this machine is ${span(away)} ${how} the database's`, FIRST.clock),
  ]
}

function ofCertificate({
  of,
  daysLeft,
}: NonNullable<Surroundings['certificates']>[number]): Cause | false {
  if (daysLeft === null)
    return warn('certificates', `The certificate of ${of} could not be read`, FIRST.unshown)
  if (daysLeft <= 0)
    return bad('certificates', `The certificate of ${of} has ended`, FIRST.certificate)
  const days = counted(Math.ceil(daysLeft), 'day')
  return (
    daysLeft < CERTIFICATE_DAYS &&
    warn('certificates', `The certificate of ${of} ends in ${days}`, FIRST.certificate)
  )
}

function ofDisk({ disk }: Surroundings): Cause | false {
  if (disk === null) return false
  const { folder, free, total, daysLeft } = disk
  if (total === 0)
    return bad('disk', `DATA_DIR ${folder} was removed while it was in use`, FIRST.removed)
  const left = `${bytes(free)} of ${bytes(total)} are free`
  if (free < FULL_BYTES) return bad('disk', `The disk of ${folder} is full (${left})`, FIRST.disk)
  if (daysLeft !== null && daysLeft < DAYS_LEFT)
    return warn(
      'disk',
      `The disk of ${folder} is full in ${span(daysLeft * 86_400)} (${left})`,
      FIRST.disk,
    )
  return (
    free < total * FULL_SHARE &&
    warn('disk', `The disk of ${folder} is soon full (${left})`, FIRST.disk)
  )
}

/** The notifier should have tried a message of an alert after this many seconds. */
const TOLD = 300

function ofServices({ running, restarting = [], stalled = [], alerts }: Facts): Found {
  const services = ['api', 'crawler', 'normaliser', 'embedder'] as const
  const inForce = alerts?.inForce ?? 0
  return [
    ...services.map(
      name =>
        running?.processes[name] === 0 &&
        bad(
          'services',
          `No ${name === 'api' ? 'API' : name} is connected to the database`,
          FIRST.service,
        ),
    ),
    inForce > 0 &&
      running?.processes.notifier === 0 &&
      bad(
        'services',
        `No notifier is connected to the database, so nobody tells ${counted(inForce, 'alert')}`,
        FIRST.notifier,
      ),
    ...Object.entries(running?.older ?? {}).map(([name, count]) => {
      const processes = `${counted(count, 'process', 'processes')} of the ${name} ${count === 1 ? 'is' : 'are'}`
      return count > 0 && warn('services', `${processes} of an older version`, FIRST.older)
    }),
    ...restarting.map(name =>
      bad('services', `The ${name} restarts again and again`, FIRST.restarts),
    ),
    (alerts?.resting ?? 0) > 0 &&
      warn(
        'alerts',
        `${counted(alerts!.resting, 'alert')} ${alerts!.resting === 1 ? 'rests' : 'rest'} after failures`,
        FIRST.alerts,
      ),
    (alerts?.waiting ?? 0) > TOLD &&
      warn(
        'alerts',
        `A message of an alert has waited for the notifier for ${span(alerts!.waiting)}`,
        FIRST.notifier,
      ),
    ...stalled.map(name =>
      bad('queues', `Messages wait in ${name}, and nobody takes them`, FIRST.queue),
    ),
  ]
}

/** After this many seconds without a new article, an operator should look. */
const QUIET = 3_600

function ofFlow(flow: Flow<Date | string>, at: string): Found {
  const quiet =
    flow.newest === null ? 0 : (Date.parse(at) - new Date(flow.newest).getTime()) / 1_000
  const { pages, feeds, embeddings, removals, looks, back } = flow
  const rest = (count: number, what: string, first: string) => {
    const ended = `${counted(count, what)} ended a process three times, and ${count === 1 ? 'is' : 'are'} tried once a day`
    return count > 0 && warn('ends', ended, first)
  }
  return [
    rest(pages.resting, 'page', FIRST.resting),
    rest(feeds.resting, 'feed', FIRST.outlets),
    rest(embeddings.resting, 'embedding', FIRST.embedding),
    quiet > QUIET && warn('articles', `No article has come in for ${span(quiet)}`, FIRST.quiet),
    pagesAreLate(flow) &&
      warn(
        'normaliser',
        `A page has waited for the normaliser for ${span(pages.oldest)}`,
        FIRST.normaliser,
      ),
    embeddingsAreLate(flow) &&
      warn(
        'embedder',
        `Articles have waited for the embedder for ${span(embeddings.oldest)}`,
        FIRST.embedder,
      ),
    removalsAreLate(flow) &&
      warn(
        'removals',
        `${counted(removals.waiting, 'removed article waits', 'removed articles wait')} to be cleared, the oldest for ${span(removals.oldest)}`,
        FIRST.removals,
      ),
    looksAreLate(flow) &&
      warn(
        'looks',
        `${counted(looks.waiting, 'answer waits', 'answers wait')} to be judged of pages that were asked for again, the oldest for ${span(looks.oldest)}`,
        FIRST.looks,
      ),
    backIsLate(flow) &&
      warn('back', `A back-fill has settled no address for ${span(back.oldest)}`, FIRST.back),
  ]
}

/** A gap of a feed is reported for this many seconds, as in the rules of alarms. */
const GAP_SHOWN = 21_600

function ofOutlets({ outlets, around, at, spent = [] }: Facts): Found {
  if (outlets === null) return []
  if (outlets.length === 0)
    return [warn('outlets', 'The catalogue is empty, so nothing is crawled', FIRST.catalogue)]
  const held = outlets.filter(({ error }) => error?.startsWith('held:'))
  const fallen = outlets
    .filter(({ origins }) => origins.falls.length > 0)
    .map(({ domain }) => domain)
  const since = Date.parse(at) - GAP_SHOWN * 1_000
  const rolled = outlets.filter(
    ({ gaps }) => gaps !== null && new Date(gaps.to).getTime() > since,
  ).length
  const unseen = `Feeds of ${counted(rolled, 'outlet')} rolled on unseen, so articles may be missing`
  return [
    held.length > 0 && {
      check: 'outlets',
      level: 'bad',
      text: `${counted(held.length, 'outlet')}: ${held[0]?.error}`,
    },
    ...ofFailing(outlets, around?.names ?? null),
    ...outlets.map(
      ({ domain, kept }): Cause | false =>
        kept !== null && {
          check: 'outlets',
          level: 'warn',
          text: `${domain}: ${keptInWords(kept)}.`,
        },
    ),
    ...spent.map(what => warn('outlets', `Today's budget of ${what} is used up`, FIRST.budget)),
    rolled > 0 && warn('outlets', unseen, FIRST.gaps),
    fallen.length > 0 &&
      warn(
        'outlets',
        `Articles are read from worse sources than before: ${listed(fallen)}`,
        FIRST.sources,
      ),
  ]
}

/**
 * If all outlets fail for the same reason on our side, this is one cause: the network or the name
 * server, and not the outlets. If the name server answers, and has no address for a few, these are
 * named.
 */
function ofFailing(
  outlets: readonly OutletHealth<Date | string>[],
  names: Surroundings['names'],
): Found {
  const failing = outlets.filter(({ health }) => health === 'failing')
  const gone = failing.filter(({ error }) => /\b(404|410)\b/.test(error ?? ''))
  const nameless = failing.filter(({ error }) => error?.includes('(ENOTFOUND)'))
  const absent = nameless.length < outlets.length || outlets.length === 1 ? nameless : []
  const isTold = (domain: string) =>
    absentOf(names).some(host => host === domain || host.endsWith(`.${domain}`))
  const untold = absent.filter(({ domain }) => !isTold(domain)).map(({ domain }) => domain)
  const others = failing.filter(outlet => !gone.includes(outlet) && !absent.includes(outlet))
  const example = others[0]
  const why = ({ error, unread }: OutletHealth<Date | string>) =>
    error ?? (unread === null ? 'no reason given' : unreadInWords(unread))
  const said = example === undefined ? '' : `${example.domain}: ${why(example)}`
  const ofAll = (pattern: RegExp) =>
    others.length > 0 &&
    failing.length === outlets.length &&
    others.every(({ error }) => pattern.test(error ?? ''))
  return [
    ...gone.map(({ domain }) => warn('outlets', `All feeds of ${domain} are gone`, FIRST.gone)),
    untold.length > 0 &&
      !resolveNone(names) &&
      warn('names', `Feeds of ${listed(untold)} have a name without an address`, FIRST.absent),
    ofAll(/does not resolve/) &&
      !resolveNone(names) &&
      bad('names', `No name of an outlet resolves (${said})`, FIRST.names),
    ofAll(/connection failed|in time/) &&
      bad('network', `No outlet can be reached (${said})`, FIRST.network),
    others.length > 0 &&
      !ofAll(/does not resolve|connection failed|in time/) &&
      warn(
        'outlets',
        `${counted(others.length, 'outlet')} cannot be read (${said})`,
        FIRST.outlets,
      ),
  ]
}

const listed = (domains: string[]) =>
  [
    ...domains.slice(0, NAMED),
    ...(domains.length > NAMED ? [counted(domains.length - NAMED, 'other outlet')] : []),
  ].join(', ')

function ofRest({ quarantine, unread, missing }: Facts): Found {
  const ours = quarantine?.counts.filter(({ ours }) => ours).reduce((sum, { n }) => sum + n, 0) ?? 0
  const failed = `${counted(ours, 'page or article', 'pages or articles')} in quarantine failed on our side`
  return [
    ours > 0 && warn('quarantine', failed, FIRST.quarantine),
    ...(missing.includes('postgres') ? [] : unread).map(part =>
      warn('database', `${UNREAD}${part}`, FIRST.reading),
    ),
  ]
}

/**
 * A standby that lags more than this cannot answer requests that need the newest articles. The
 * rules of alarms have the same limits.
 */
const LAG_BYTES = 256_000_000
const LAG_SECONDS = 60
/**
 * The most bytes of log that may be kept for a standby. If the standby never reads them, they fill
 * the disk some day.
 */
const HELD_BYTES = 5_000_000_000
/** If more articles than this are due for the archive index, nobody fills it. */
const DUE_ARTICLES = 500_000

/** Finds faults of machines and servers. */
const ofMachines = ({ postgres, vectors, redis, archiveIndex }: Machines): Found => [
  ...(postgres === null ? [] : ofPostgres(postgres)),
  ...(vectors === null ? [] : ofVectors(vectors)),
  redis !== null && ofRedis(redis),
  ...(archiveIndex === null ? [] : ofArchive(archiveIndex)),
]

const ofPostgres = ({ role, standbys, slots, archive }: PostgresServers): Found => [
  role === 'standby' &&
    bad('database', 'The database is a standby, so nothing can be written', FIRST.standby),
  ...standbys.map(({ host, name, lagBytes, lagSeconds }) => {
    const isLate = (lagBytes ?? 0) > LAG_BYTES || (lagSeconds ?? 0) > LAG_SECONDS
    const behind = lagSeconds === null ? bytes(lagBytes ?? 0) : span(lagSeconds)
    return (
      isLate && warn('machines', `The standby ${host ?? name} is ${behind} behind`, FIRST.lagging)
    )
  }),
  ...slots.flatMap(({ name, lost, heldBytes }) => [
    lost && warn('machines', `The standby of slot ${name} has to be made anew`, FIRST.slot),
    heldBytes > HELD_BYTES &&
      warn('machines', `Postgres keeps ${bytes(heldBytes)} of log for slot ${name}`, FIRST.slot),
  ]),
  archive?.failing === true && warn('machines', 'Postgres cannot archive its log', FIRST.archiving),
]

function ofVectors({ shards, unreachable: away }: VectorNodes): Found {
  const idle = shards
    .flatMap(({ copies }) => copies)
    .filter(({ state }) => state !== 'Active').length
  return [
    away.length > 0 && warn('machines', `Qdrant does not reach ${away.join(', ')}`, FIRST.nodes),
    idle > 0 &&
      warn('machines', `${counted(idle, 'copy', 'copies')} of vectors cannot answer`, FIRST.nodes),
  ]
}

function ofRedis({ role, replicas }: RedisServers): Cause | false {
  if (role === 'replica')
    return bad(
      'queues',
      'The Redis of the queues is a replica, so nothing can be queued',
      FIRST.queues,
    )
  const away = replicas.filter(({ online }) => !online).length
  return (
    away > 0 && warn('machines', `${counted(away, 'replica')} of Redis cannot follow`, FIRST.nodes)
  )
}

function ofArchive({ backlog, health }: ArchiveIndexFigures): Found {
  const missing = `${counted(health?.unassigned ?? 0, 'copy', 'copies')} of shards of the archive index`
  return [
    health === null &&
      warn('machines', 'OpenSearch does not say how the archive index is', FIRST.archive),
    (health?.unassigned ?? 0) > 0 && warn('machines', `OpenSearch misses ${missing}`, FIRST.nodes),
    backlog > DUE_ARTICLES &&
      warn('machines', `${counted(backlog, 'article')} are due for the archive index`, FIRST.fill),
  ]
}

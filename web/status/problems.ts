import {
  type ArchiveIndexFigures,
  type Figures,
  type Flow,
  keptInWords,
  type Machines,
  type OutletHealth,
  type OutletOrigins,
  type PostgresServers,
} from '../../shared/status/figures.ts'
import type { Failure } from '../parts/request.ts'
import { ago, bytes, number, plural, span } from './numbers.ts'

/** Seconds after which an operator should look. */
const QUIET = 3_600
const PAGES_LATE = 600
const EMBEDDINGS_LATE = 1_800
/** Seconds for which a gap of a feed is news, as in the alert. */
const GAP_SHOWN = 21_600

/** Whether the normaliser, or the embedder, is behind its work. */
export const pagesAreLate = ({ pages }: Flow<string>) => pages.oldest > PAGES_LATE
export const embeddingsAreLate = ({ embeddings }: Flow<string>) => embeddings.oldest > EMBEDDINGS_LATE

/** Why no figures come, as the page says it. */
export function problemOfFailure({ code, message }: Failure): Problem {
  if (code === 'offline') return { level: 'bad', text: 'The API does not answer.' }
  return { level: 'bad', text: message || 'The answer of the API cannot be read.' }
}

/** What an operator should look at, the worst first. */
export function problemsOf(figures: Figures): Problem[] {
  const found = [
    ...ofDependencies(figures),
    ...problemsOfMachines(figures.machines),
    ...(figures.flow === null ? [] : ofFlow(figures.flow, figures.at)),
    ...ofOutlets(figures),
    ...ofQuarantine(figures),
    ...ofReading(figures),
  ]
  return found.sort((a, b) => RANK[a.level] - RANK[b.level])
}

const RANK = { bad: 0, warn: 1 }
const bad = (text: string): Problem => ({ level: 'bad', text })
const warn = (text: string): Problem => ({ level: 'warn', text })

function ofDependencies({ missing, running }: Figures): Problem[] {
  const others = missing.filter(name => name !== 'postgres')
  const services = ['crawler', 'normaliser', 'embedder'] as const
  return [
    ...(missing.includes('postgres') ? [bad('The API does not reach its database.')] : []),
    ...(others.length > 0 ? [warn(`Search by meaning is out of order: no ${others.join(', no ')}.`)] : []),
    ...services
      .filter(name => running?.processes[name] === 0)
      .map(name => bad(`No ${name} is connected to the database.`)),
  ]
}

function ofFlow(flow: Flow<string>, at: string): Problem[] {
  const quiet = flow.newest === null ? 0 : (Date.parse(at) - Date.parse(flow.newest)) / 1_000
  return [
    ...(quiet > QUIET ? [warn(`No article has come in for ${span(quiet)}.`)] : []),
    ...(pagesAreLate(flow) ? [warn(`A page has waited for the normaliser for ${span(flow.pages.oldest)}.`)] : []),
    ...(embeddingsAreLate(flow)
      ? [warn(`Articles have waited for the embedder for ${span(flow.embeddings.oldest)}.`)]
      : []),
  ]
}

function ofOutlets({ outlets, at }: Figures): Problem[] {
  const failing = outlets?.filter(({ health }) => health === 'failing').length ?? 0
  const held = outlets?.filter(({ error }) => error?.startsWith('held:')) ?? []
  const fallen = outlets?.filter(({ origins }) => origins.falls.length > 0).map(({ domain }) => domain) ?? []
  const since = Date.parse(at) - GAP_SHOWN * 1_000
  // The figures of an API from before this page have none.
  const rolled = outlets?.filter(({ gaps }) => gaps && Date.parse(gaps.to) > since).length ?? 0
  return [
    ...(held[0]?.error ? [bad(`${plural(held.length, 'outlet')}: ${held[0].error}`)] : []),
    ...(failing > 0 ? [warn(`${plural(failing, 'outlet')} cannot be read.`)] : []),
    ...(outlets?.flatMap(({ domain, kept }) => (kept ? [warn(`${domain}: ${keptInWords(kept)}.`)] : [])) ?? []),
    ...(rolled > 0 ? [warn(`Feeds of ${plural(rolled, 'outlet')} rolled on unseen: articles may be missing.`)] : []),
    ...(fallen.length > 0 ? [warn(`Articles are read from worse sources than before: ${listed(fallen)}.`)] : []),
  ]
}

const NAMED = 3
const listed = (domains: string[]) =>
  [
    ...domains.slice(0, NAMED),
    ...(domains.length > NAMED ? [plural(domains.length - NAMED, 'other outlet')] : []),
  ].join(', ')

function ofQuarantine({ quarantine }: Figures): Problem[] {
  const ours = quarantine?.counts.filter(({ ours }) => ours).reduce((sum, { n }) => sum + n, 0) ?? 0
  if (ours === 0) return []
  return [warn(`${plural(ours, 'page or article', 'pages or articles')} in quarantine failed on our side.`)]
}

function ofReading({ unread, missing }: Figures): Problem[] {
  return unread.length > 0 && !missing.includes('postgres')
    ? [warn(`Could not be read in time: ${unread.join(', ')}.`)]
    : []
}

/** Something that an operator should look at. */
export interface Problem {
  level: 'bad' | 'warn'
  text: string
}

/** A standby that is so far behind answers no fresh page (the alerts have the same limits). */
const LAG_BYTES = 256_000_000
const LAG_SECONDS = 60
/** Log of a follower that does not take it fills the disk in the end. */
const HELD_BYTES = 5_000_000_000
/** So many articles are due for the archive index when nobody fills it. */
const DUE_ARTICLES = 500_000

/** What an operator should look at among machines and servers. */
export function problemsOfMachines(machines: Machines | null): Problem[] {
  if (machines === null) return []
  const { postgres, vectors, redis, archiveIndex } = machines
  const texts = [
    ...(postgres ? ofPostgres(postgres) : []),
    ...ofVectors(vectors),
    ...ofRedis(redis),
    ...(archiveIndex ? ofArchive(archiveIndex) : []),
  ]
  const readOnly: Problem[] =
    postgres?.role === 'standby' ? [{ level: 'bad', text: 'The database is a standby: nothing can be written.' }] : []
  return [...readOnly, ...texts.map((text): Problem => ({ level: 'warn', text }))]
}

function ofPostgres({ standbys, slots, archive }: PostgresServers): string[] {
  const late = standbys.filter(
    ({ lagBytes, lagSeconds }) => (lagBytes ?? 0) > LAG_BYTES || (lagSeconds ?? 0) > LAG_SECONDS,
  )
  return [
    ...late.map(({ host, name, lagBytes, lagSeconds }) => {
      const behind = lagSeconds === null ? bytes(lagBytes ?? 0) : span(lagSeconds)
      return `The standby ${host ?? name} is ${behind} behind.`
    }),
    ...slots.filter(({ lost }) => lost).map(({ name }) => `The standby of slot ${name} has to be made anew.`),
    ...slots
      .filter(({ heldBytes }) => heldBytes > HELD_BYTES)
      .map(({ name, heldBytes }) => `Postgres keeps ${bytes(heldBytes)} of log for slot ${name}.`),
    ...(archive?.failing ? ['Postgres cannot archive its log.'] : []),
  ]
}

function ofVectors(vectors: Machines['vectors']): string[] {
  const idle = vectors?.shards.flatMap(({ copies }) => copies).filter(({ state }) => state !== 'Active') ?? []
  const away = vectors?.unreachable ?? []
  return [
    ...(away.length > 0 ? [`Qdrant does not reach ${away.join(', ')}.`] : []),
    ...(idle.length > 0 ? [`${plural(idle.length, 'copy', 'copies')} of vectors cannot answer.`] : []),
  ]
}

function ofRedis(redis: Machines['redis']): string[] {
  if (redis?.role === 'replica') return ['The Redis of the queues is a replica: nothing can be queued.']
  const away = redis?.replicas.filter(({ online }) => !online) ?? []
  return away.length > 0 ? [`${plural(away.length, 'replica')} of Redis cannot follow.`] : []
}

function ofArchive({ backlog, health }: ArchiveIndexFigures): string[] {
  const missing = health?.unassigned ?? 0
  return [
    ...(health === null ? ['OpenSearch does not say how the archive index is.'] : []),
    ...(missing > 0 ? [`OpenSearch misses ${plural(missing, 'copy', 'copies')} of shards of the archive index.`] : []),
    ...(backlog > DUE_ARTICLES ? [`${plural(backlog, 'article')} are due for the archive index.`] : []),
  ]
}

/**
 * Whether all processes share a host, and no server has a copy of its data elsewhere, nor an
 * archive index.
 */
export function isOneMachine({ hosts, postgres, vectors, redis, archiveIndex }: Machines): boolean {
  const hasStandbys = postgres !== null && (postgres.role === 'standby' || postgres.standbys.length > 0)
  // A slot or an archive alone is no second machine, but it can fill the disk of the first.
  const keepsLog = postgres !== null && (postgres.slots.length > 0 || postgres.archive !== null)
  const hasNodes = vectors !== null && vectors.nodes.length > 0
  const hasReplicas = redis !== null && (redis.role === 'replica' || redis.replicas.length > 0)
  const hasCopies = hasStandbys || hasNodes || hasReplicas || archiveIndex !== null
  return (hosts?.length ?? 0) <= 1 && !keepsLog && !hasCopies
}

/** What an operator should know about an outlet; empty: nothing. */
export function troubleOf(outlet: OutletHealth<string>, now: number): string {
  const { feeds, failingFeeds, failures, error, blocks, putOff, late, restsUntil, gaps, origins } = outlet
  const failing =
    failingFeeds > 0 ? `${failingFeeds} of ${plural(feeds, 'feed')} failing, ${failures} in a row: ${error ?? ''}` : ''
  const kept = blocks.map(({ kind, pages }) => `${kind} ${number(pages)}×`).join(', ')
  const unseen = gaps ? `a feed rolled on unseen ${number(gaps.count)}×, last ${ago(gaps.to, now)}` : ''
  const slow = late > 0 ? `${plural(late, 'page')} late${restsUntil === null ? '' : ', rests'}` : ''
  const later = putOff > 0 ? `${plural(putOff, 'page')} on new hosts put off` : ''
  const worse = origins.falls.map(fall => `worse sources of ${fallInWords(fall)}`).join(', ')
  return [failing, kept, unseen, slow, later, worse].filter(part => part !== '').join('; ')
}

/** A field that is read from worse sources than before: `date: json-ld 90 % → 40 %`. */
const fallInWords = ({ field, source, before, now }: OutletOrigins['falls'][number]) =>
  `${field}: ${source} ${percent(before)} → ${percent(now)}`

/** The most frequent source of each field, of those that differ between outlets. */
export function sourcesOf({ origins }: OutletHealth<string>): string {
  const main = ['date', 'authors', 'text'].flatMap(field => origins.shares.find(share => share.field === field) ?? [])
  return main.map(({ field, source, share }) => `${field} ${source} ${percent(share)}`).join(', ')
}

const percent = (share: number) => `${Math.round(share * 100)} %`

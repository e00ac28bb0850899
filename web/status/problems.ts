import type { Cause, Machines, OutletHealth, OutletOrigins } from '../../shared/status/figures.ts'
import type { Failure } from '../parts/request.ts'
import { ago, number, plural } from './numbers.ts'

/** Why no figures come, as the page says it. */
export function problemOfFailure({ code, message }: Failure): Problem {
  if (code === 'offline') return { level: 'bad', text: 'The API does not answer.' }
  return { level: 'bad', text: message || 'The answer of the API cannot be read.' }
}

/** Something that an operator should look at. */
export type Problem = Pick<Cause, 'level' | 'text'>

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

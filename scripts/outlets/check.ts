import type { FileHandle } from 'node:fs/promises'
import { readAddress } from '#shared/articles/address'
import type { Config } from '#shared/config/config'
import { isRecord } from '#shared/encoding/is-record'
import { counted, printableLine } from '#shared/log/printable'
import type { Outlet } from '#shared/outlets/catalogue'
import { UsageError } from '#shared/process/command'
import { type CheckedFeed, checkFeed, findFeeds } from './find.ts'
import { openTrial, type Trial } from './trial.ts'

/**
 * The result of checking one outlet. `works`: as the catalogue says. `corrected`: some addresses
 * have changed. `unclear`: no address could be read, but they may be right. `gone`: no feed is
 * there.
 */
interface CheckedOutlet {
  sentence: string
  domain: string
  result: 'works' | 'corrected' | 'unclear' | 'gone'
  feeds: string[]
  sitemaps: string[]
  /** Addresses without a feed: those of the catalogue, then those that earlier checks dropped. */
  dropped: string[]
  /** Addresses that the check found, or to which a listed address has moved permanently. */
  found: string[]
}

/** Outlets that are checked at the same time. Each host gets one request at a time. */
const SIDE_BY_SIDE = 8
/** How many feeds the check looks for when it can read no listed address of an outlet. */
const MOST_FOUND = 5

/**
 * Tries every listed address once, from this machine, without a database, by the crawler's own
 * rules. Where an address is dead, or an outlet has none, it searches for others.
 *
 * @param earlier by domain, addresses that earlier checks dropped, which are tried once more
 * @param report.feed called with each result as it comes
 * @param report.outlet called when an outlet is done
 */
export async function checkOutlets(
  config: Config,
  outlets: Outlet[],
  earlier: ReadonlyMap<string, string[]>,
  signal: AbortSignal,
  report: { feed(result: CheckedFeed): void; outlet(): void },
): Promise<{ feeds: CheckedFeed[]; outlets: CheckedOutlet[] }> {
  const trial = openTrial(config, signal)
  const feeds: CheckedFeed[] = []
  const done = new Map<string, CheckedOutlet>()
  const note = (result: CheckedFeed) => {
    feeds.push(result)
    report.feed(result)
  }
  const queue = [...outlets]
  const work = async () => {
    for (
      let outlet = queue.shift();
      outlet !== undefined && !signal.aborted;
      outlet = queue.shift()
    ) {
      const checked = await checkOutlet(trial, outlet, earlier.get(outlet.domain) ?? [], note)
      if (checked === null) return
      done.set(outlet.domain, checked)
      report.outlet()
    }
  }
  await Promise.all(Array.from({ length: SIDE_BY_SIDE }, work)).finally(() => trial.close())
  return { feeds, outlets: outlets.flatMap(({ domain }) => done.get(domain) ?? []) }
}

/** Null: the check was interrupted. */
async function checkOutlet(
  trial: Trial,
  outlet: Outlet,
  earlier: string[],
  report: (result: CheckedFeed) => void,
) {
  const { domain, feeds, sitemaps } = outlet
  const tried: CheckedFeed[] = []
  for (const url of new Set([...feeds, ...sitemaps, ...earlier])) {
    const result = await checkFeed(trial, {
      domain,
      url,
      listed: feeds.includes(url) || sitemaps.includes(url),
    })
    if (trial.signal.aborted) return null
    tried.push(result)
    report(result)
  }
  const listed = tried.filter(feed => feed.listed)
  const back = tried.filter(feed => !feed.listed && feed.ok)
  const missing = listed.filter(feed => feed.dead).length - back.length
  const readable = tried.some(({ ok }) => ok)
  const found =
    missing > 0 || !(readable || listed.length > 0)
      ? await findFeeds(trial, outlet, tried, readable ? missing : MOST_FOUND, report)
      : []
  return trial.signal.aborted ? null : judgeOutlet(outlet, tried, [...back, ...found])
}

/** Decides which addresses stay. An address that may answer later stays. */
function judgeOutlet(outlet: Outlet, tried: CheckedFeed[], found: CheckedFeed[]): CheckedOutlet {
  const listed = tried.filter(feed => feed.listed)
  const byUrl = new Map(listed.map(feed => [feed.url, feed]))
  const kept = (urls: string[]) => urls.flatMap(url => addressToKeep(url, byUrl.get(url)) ?? [])
  const isSitemap = ({ format }: CheckedFeed) =>
    format?.startsWith('sitemap') || format === 'news sitemap'
  const feeds = unique([
    ...kept(outlet.feeds),
    ...found.filter(feed => !isSitemap(feed)).map(addressOf),
  ])
  const sitemaps = unique([...kept(outlet.sitemaps), ...found.filter(isSitemap).map(addressOf)])
  const before = [...outlet.feeds, ...outlet.sitemaps]
  const after = [...feeds, ...sitemaps.filter(url => !feeds.includes(url))]
  const working = [...listed, ...found].filter(({ ok }) => ok).length
  const result: 'works' | 'corrected' | 'unclear' | 'gone' =
    working > 0
      ? before.length === after.length && before.every(url => after.includes(url))
        ? 'works'
        : 'corrected'
      : after.length > 0
        ? 'unclear'
        : 'gone'
  const checked = {
    domain: outlet.domain,
    result,
    feeds,
    sitemaps: sitemaps.filter(url => !feeds.includes(url)),
    dropped: tried.filter(({ dead, listed, ok }) => (listed ? dead : !ok)).map(({ url }) => url),
    found: after.filter(url => !before.includes(url)),
  }
  return { ...checked, sentence: outletSentence(checked, listed) }
}

function addressToKeep(url: string, checked: CheckedFeed | undefined): string | null {
  if (checked?.dead) return null
  return checked?.ok ? addressOf(checked) : url
}

/**
 * The address of a feed that was read. A permanent redirect changes it, any other redirect does
 * not.
 */
const addressOf = ({ url, moved, permanent }: CheckedFeed) =>
  permanent && moved !== null ? moved : url

function outletSentence(
  { result, found }: { result: string; found: string[] },
  listed: CheckedFeed[],
): string {
  const read = listed.filter(({ ok }) => ok).length
  const dead = listed.filter(feed => feed.dead).map(({ url }) => url)
  const unclear = listed.filter(feed => !feed.ok && !feed.dead)
  return [
    `${result}: ${read} of ${counted(listed.length, 'listed address', 'listed addresses')} read`,
    dead.length > 0 && `no feed any more: ${dead.join(' ')}`,
    found.length > 0 && `found: ${found.join(' ')}`,
    ...unclear.map(({ url, detail }) => `kept, although ${detail}: ${url}`),
  ]
    .filter(Boolean)
    .join('; ')
}

const unique = (urls: string[]) => [...new Set(urls)]

/** A summary, then one line for each outlet. Outlets that need most work come first. */
export function checkTable({
  feeds,
  outlets,
}: {
  feeds: CheckedFeed[]
  outlets: CheckedOutlet[]
}): string {
  const listed = feeds.filter(feed => feed.listed)
  const read = listed.filter(({ ok }) => ok)
  const alive = new Set(feeds.filter(({ ok }) => ok).map(({ domain }) => domain))
  const rank = { gone: 0, unclear: 1, corrected: 2, works: 3 }
  const sorted = outlets.toSorted((a, b) => rank[a.result] - rank[b.result])
  return [
    `${read.length} of ${counted(listed.length, 'feed')} read, ${alive.size} of ${counted(outlets.length, 'outlet')} with at least one.`,
    ...sorted.map(({ domain, sentence }) => printableLine(`${domain}  ${sentence}`)),
  ].join('\n')
}

/**
 * The most dropped addresses of one outlet that are stored, and tried again by each later check.
 */
const MOST_DROPPED = 10

/** The addresses that earlier checks dropped, by domain. They may work again. */
export function droppedBefore(text: string, domains: string[]): Map<string, string[]> {
  const outlets = outletsOf(JSON.parse(text.replace(/^\ufeff/, '')))
  return new Map(
    domains.map((domain, at) => {
      // `readCatalogue` keeps the order.
      const outlet: unknown = outlets[at]
      const tried = isRecord(outlet) && isRecord(outlet.tried) ? outlet.tried : {}
      const dropped: unknown[] = Array.isArray(tried.dropped) ? tried.dropped : []
      const addresses = dropped.filter(url => typeof url === 'string' && readAddress(url) !== null)
      return [domain, addresses.slice(0, MOST_DROPPED).map(String)]
    }),
  )
}

const outletsOf = (catalogue: unknown): unknown[] =>
  isRecord(catalogue) && Array.isArray(catalogue.outlets) ? catalogue.outlets : []

/**
 * Writes a catalogue with the results of a check: addresses that work or may work again, and the
 * day of the check. All other fields stay unchanged.
 *
 * @param to opened for writing before the process dropped its rights
 * @param text the catalogue that was checked
 * @param day of the check, `YYYY-MM-DD`
 * @throws UsageError when no outlet could be read, because the network is then probably down
 */
export async function writeCatalogue(
  to: FileHandle,
  text: string,
  checked: CheckedOutlet[],
  day: string,
): Promise<void> {
  if (!checked.some(({ result }) => result === 'works' || result === 'corrected'))
    throw new UsageError('No outlet could be read, so nothing was written: is there a network?')
  const catalogue: unknown = JSON.parse(text.replace(/^\ufeff/, ''))
  const outlets = outletsOf(catalogue)
  const corrected = outlets.map((outlet: unknown, at) => {
    // `readCatalogue` keeps the order, and so does the check.
    const found = checked[at]
    if (!isRecord(outlet) || found === undefined) return outlet
    const { feeds, sitemaps, result } = found
    const dropped = found.dropped.slice(0, MOST_DROPPED)
    const tried = { on: day, result, ...(dropped.length > 0 ? { dropped } : {}) }
    return {
      ...outlet,
      feeds,
      ...(sitemaps.length > 0 || 'sitemaps' in outlet ? { sitemaps } : {}),
      tried,
    }
  })
  const whole = `${JSON.stringify({ ...(isRecord(catalogue) ? catalogue : {}), outlets: corrected }, null, 2)}\n`
  await to.truncate(0)
  await to.writeFile(whole)
  await to.sync()
}

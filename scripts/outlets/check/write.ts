import type { FileHandle } from 'node:fs/promises'
import { readAddress } from '../../../shared/articles/address.ts'
import { isRecord } from '../../../shared/json/is-record.ts'
import { UsageError } from '../../../shared/process/command.ts'
import type { CheckedOutlet } from './outlet.ts'

/** Addresses that are remembered of one outlet, and tried by each later check. */
const MOST_DROPPED = 10

/** The addresses that earlier checks dropped, by domain. They may be back: outlets mend, too. */
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
 * Writes a catalogue with what a check found: addresses that work or may work again, and the day of
 * the try. All other fields stay as they were.
 *
 * @param to opened for writing before the process gave its rights away
 * @param text the catalogue that was checked
 * @param day of the try, `YYYY-MM-DD`
 * @throws UsageError when nothing at all could be read: that is more likely a lost network
 */
export async function writeCatalogue(
  to: FileHandle,
  text: string,
  checked: CheckedOutlet[],
  day: string,
): Promise<void> {
  if (!checked.some(({ result }) => result === 'works' || result === 'corrected')) {
    throw new UsageError('No outlet could be read, so nothing was written: is there a network?')
  }
  const catalogue: unknown = JSON.parse(text.replace(/^\ufeff/, ''))
  const outlets = outletsOf(catalogue)
  const corrected = outlets.map((outlet: unknown, at) => {
    // `readCatalogue` keeps the order, and so does the check.
    const found = checked[at]
    if (!isRecord(outlet) || found === undefined) return outlet
    const { feeds, sitemaps, result } = found
    const dropped = found.dropped.slice(0, MOST_DROPPED)
    const tried = { on: day, result, ...(dropped.length > 0 ? { dropped } : {}) }
    return { ...outlet, feeds, ...(sitemaps.length > 0 || 'sitemaps' in outlet ? { sitemaps } : {}), tried }
  })
  const whole = `${JSON.stringify({ ...(isRecord(catalogue) ? catalogue : {}), outlets: corrected }, null, 2)}\n`
  await to.truncate(0)
  await to.write(whole, 0)
  await to.sync()
}

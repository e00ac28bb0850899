import type { OutletFigures } from '../../../services/api/status/figures.ts'
import { number, plural } from '../numbers.ts'

/** What an operator should know about an outlet; empty: nothing. */
export function troubleOf(outlet: OutletFigures): string {
  const { feeds, failingFeeds, failures, error, blocks, putOff, late, restsUntil } = outlet
  const failing =
    failingFeeds > 0 ? `${failingFeeds} of ${plural(feeds, 'feed')} failing, ${failures} in a row: ${error ?? ''}` : ''
  const kept = blocks.map(({ kind, pages }) => `${kind} ${number(pages)}×`).join(', ')
  const slow = late > 0 ? `${plural(late, 'page')} late${restsUntil === null ? '' : ', rests'}` : ''
  const later = putOff > 0 ? `${plural(putOff, 'page')} on new hosts put off` : ''
  return [failing, kept, slow, later].filter(part => part !== '').join('; ')
}

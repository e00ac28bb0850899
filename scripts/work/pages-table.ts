import { counted } from '../../shared/log/counted.ts'
import { printableLine } from '../../shared/log/printable.ts'
import { columns } from '../terminal/columns.ts'
import { span } from '../terminal/span.ts'
import type { ListedPage } from './pages.ts'

/** Pages for people: one line a page. */
export function pagesTable(pages: ListedPage[], now: Date): string {
  const rows = pages.map(page => [
    page.id,
    page.state,
    nextTry(page, now),
    counted(page.attempts, 'attempt'),
    page.outlet,
    page.url,
    why(page, now),
  ])
  return columns([['id', 'state', 'next try', 'tried', 'outlet', 'address', 'why'], ...rows].map(cleaned))
}

const cleaned = (row: string[]) => row.map(printableLine)

function nextTry({ nextTry }: ListedPage, now: Date): string {
  if (nextTry === null) return 'none'
  const wait = nextTry.getTime() - now.getTime()
  return wait <= 0 ? 'due' : `in ${span(wait)}`
}

/** The reason of the last attempt, or what the page waits for. */
function why({ state, reason, detail, nextTry, outletRestsUntil }: ListedPage, now: Date): string {
  if (reason === 'put off') return 'its host is beyond the new hosts that its outlet may have today'
  const parts = [reason, detail].filter(part => part !== null && part !== '')
  if (state === 'waiting' && outletRestsUntil !== null) {
    parts.push(`its outlet rests for ${span(outletRestsUntil.getTime() - now.getTime())}`)
  }
  if (parts.length > 0) return parts.join('; ')
  if (state === 'stored') return 'waits for a normaliser'
  if (nextTry !== null && nextTry > now) return 'not tried yet'
  return 'waits for its host, or for a crawler'
}

import { createHash } from 'node:crypto'
import { countOf, type Pool } from '../../../shared/postgres/pool.ts'

/**
 * The texts that outlets served under several addresses: those stored in `served_texts`, and those
 * of pages in hand.
 */
export type ServedTexts = ReturnType<typeof openServedTexts>

/**
 * From this many other addresses on, a text is an interstitial. A text with a word of its title
 * needs more of them: an outlet may publish an agency's report under two addresses, and move it.
 */
const OFTEN = { titled: 5, untitled: 2 }

/** Whether a text that was served under this many other addresses is an interstitial. */
export const isOften = (others: number, titled: boolean) => others >= (titled ? OFTEN.titled : OFTEN.untitled)

type ServedPage = { outletNo: number; pageNo: bigint; fingerprint: Uint8Array }

export function openServedTexts(pool: Pool) {
  const inHand = new Map<string, Set<bigint>>()
  const keyOf = ({ outletNo, fingerprint }: Omit<ServedPage, 'pageNo'>) =>
    `${outletNo} ${Buffer.from(fingerprint).toString('base64')}`
  return {
    /**
     * Whether an outlet served a text so often that it must be an interstitial: under two other
     * addresses when it contains no word of its title, else under five. Until `forget`, the page
     * counts for the others in hand.
     */
    async isRepeated({ outletNo, pageNo, titled, fingerprint }: ServedPage & { titled: boolean }) {
      const key = keyOf({ outletNo, fingerprint })
      const pages = inHand.get(key) ?? new Set()
      inHand.set(key, pages)
      pages.add(pageNo)
      const others = pages.size - 1
      const before = 'select pages from served_texts where outlet_no = $1 and fingerprint = $2'
      return isOften(others + (await countOf(pool, before, [outletNo, fingerprint])), titled)
    },
    /**
     * Ends the count of a page in hand. By now Postgres holds its text, if the text is to be
     * remembered.
     */
    forget(page: ServedPage) {
      const key = keyOf(page)
      const pages = inHand.get(key)
      pages?.delete(page.pageNo)
      if (pages?.size === 0) inHand.delete(key)
    },
  }
}

/**
 * Texts shorter than this are captions and one-line reports. Several articles may have the same
 * one.
 */
const SHORTEST = 120

/**
 * A hash of a text's words, without spaces, punctuation and capitals. Null for a text that is too
 * short. An outlet that serves one text under many addresses serves an interstitial.
 *
 * @param titled whether the text contains a word of its title. Without one, numbers do not count,
 * because bot defences write another number at each request. Reports of the weather may differ in
 * numbers alone, but they contain words of their titles.
 * @param strange whether even the title on the page has no word of the feed's title; then a short
 * text has a hash, too
 * @returns 16 bytes
 */
export function textFingerprint(text: string, { titled, strange }: { titled: boolean; strange: boolean }) {
  const words = text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, ' ')
  if (words.length < SHORTEST && !strange) return null
  const told = titled ? words : words.replace(/\S*\p{N}\S*/gu, '').replace(/ +/g, ' ')
  return createHash('sha256').update(told).digest().subarray(0, 16)
}

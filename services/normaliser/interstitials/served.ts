import { hash } from 'node:crypto'
import { countOf, type Pool } from '#shared/postgres/pool'

/**
 * The texts that outlets have served at several addresses: those in `served_texts`, and those of
 * pages that are being normalised.
 */
export interface ServedTexts {
  /**
   * Whether an outlet has served a text so often that it must be an interstitial: at two other
   * addresses when it contains no word of its title, otherwise at five. Until `forget`, this page
   * counts for other pages that are being normalised.
   */
  isRepeated(page: ServedPage & { titled: boolean }): Promise<boolean>
  /**
   * Ends the count of a page that was being normalised. By now `served_texts` holds its text, if
   * the text must be remembered.
   */
  forget(page: ServedPage): void
}

/**
 * A text at this many other addresses, or more, is an interstitial. The number is higher for a text
 * with a word of its title: an outlet may publish an agency's report at two addresses, and move it.
 */
const OFTEN = { titled: 5, untitled: 2 }

/** Whether a text that was served under this many other addresses is an interstitial. */
export const isOften = (others: number, titled: boolean): boolean =>
  others >= (titled ? OFTEN.titled : OFTEN.untitled)

type ServedPage = { outletNo: number; pageNo: bigint; fingerprint: Uint8Array }

export function openServedTexts(pool: Pool): ServedTexts {
  const inHand = new Map<string, Set<bigint>>()
  const keyOf = ({ outletNo, fingerprint }: Omit<ServedPage, 'pageNo'>) =>
    `${outletNo} ${Buffer.from(fingerprint).toString('base64')}`
  return {
    async isRepeated({ outletNo, pageNo, titled, fingerprint }) {
      const key = keyOf({ outletNo, fingerprint })
      const pages = inHand.get(key) ?? new Set()
      inHand.set(key, pages)
      pages.add(pageNo)
      const others = pages.size - 1
      const before = 'select pages from served_texts where outlet_no = $1 and fingerprint = $2'
      return isOften(others + (await countOf(pool, before, [outletNo, fingerprint])), titled)
    },
    forget(page) {
      const key = keyOf(page)
      const pages = inHand.get(key)
      pages?.delete(page.pageNo)
      if (pages?.size === 0) inHand.delete(key)
    },
  }
}

/**
 * Characters. Shorter texts are captions and one-line reports, which several articles may share.
 */
const SHORTEST = 120

/**
 * A hash of a text's words, without spaces, punctuation and capitals. Null for a text that is too
 * short. A text that an outlet serves at many addresses is an interstitial.
 *
 * @param titled whether the text contains a word of its title. Without such a word, numbers do not
 * count, because bot defences write another number at each request. Weather reports may differ only
 * in numbers, but they contain words of their titles.
 * @param strange whether even the title on the page has no word of the feed's title; then a short
 * text has a hash, too
 * @returns 16 bytes
 */
export function textFingerprint(
  text: string,
  { titled, strange }: { titled: boolean; strange: boolean },
): Buffer<ArrayBuffer> | null {
  const words = text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, ' ')
  if (words.length < SHORTEST && !strange) return null
  const told = titled ? words : words.replace(/\S+/gu, withoutNumber).replace(/ +/g, ' ')
  return hash('sha256', told, 'buffer').subarray(0, 16)
}
const withoutNumber = (word: string) => (/\p{N}/u.test(word) ? '' : word)

import type { Pool } from '../../../shared/postgres/pool.ts'

/**
 * What one outlet served under other addresses, remembered in `served_texts`, and what is in hand
 * right now.
 */
export interface ServedTexts {
  /**
   * Whether a text is a wall for being served again and again: under two other addresses when it
   * has no word of its title, under five in any case. Until `forget`, the page counts for the
   * others in hand.
   */
  isRepeated(page: { outletNo: number; pageNo: bigint; titled: boolean; fingerprint: Uint8Array }): Promise<boolean>
  /** The page is finished; what is to be remembered of it stands in Postgres. */
  forget(page: { outletNo: number; pageNo: bigint; fingerprint: Uint8Array }): void
}

/**
 * Other addresses under which an outlet may well print one text: an agency's report that was moved,
 * twice.
 */
const OFTEN = { titled: 5, untitled: 2 }

export function openServedTexts(pool: Pool): ServedTexts {
  const inHand = new Map<string, Set<bigint>>()
  const keyOf = ({ outletNo, fingerprint }: { outletNo: number; fingerprint: Uint8Array }) =>
    `${outletNo} ${Buffer.from(fingerprint).toString('base64')}`
  return {
    async isRepeated({ outletNo, pageNo, titled, fingerprint }) {
      const key = keyOf({ outletNo, fingerprint })
      const pages = inHand.get(key) ?? new Set()
      inHand.set(key, pages)
      pages.add(pageNo)
      const others = pages.size - 1
      const { rows } = await pool.query<{ pages: number }>(
        'select pages from served_texts where outlet_no = $1 and fingerprint = $2',
        [outletNo, fingerprint],
      )
      const served = others + (rows[0]?.pages ?? 0)
      return served >= (titled ? OFTEN.titled : OFTEN.untitled)
    },
    forget(page) {
      const key = keyOf(page)
      const pages = inHand.get(key)
      pages?.delete(page.pageNo)
      if (pages?.size === 0) inHand.delete(key)
    },
  }
}

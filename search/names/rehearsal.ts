import type { SegmentCache } from '../cache/segment-cache.ts'
import type { IndexMeta } from '../store/segment-store.ts'
import { TERMS } from '../terms.ts'

/** Common parts of names: letters, a part of words, a particle, words side by side. */
const PARTS = ['a', 'e', 'an', 'de', 'van', 'n d']

/**
 * Makes the lists of some common parts of names. Code that runs for the first time takes ten times
 * as long: without this the first client would wait for that.
 */
export async function rehearseNames(cache: SegmentCache, { segments, version }: IndexMeta): Promise<void> {
  for (const part of PARTS) {
    for (const term of [TERMS.outletPart(part), TERMS.authorPart(part)]) {
      await cache.readLists(
        segments.map(segment => ({ segment, term })),
        version,
      )
    }
  }
}

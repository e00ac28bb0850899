/*
 * The entry for programs that take articles out for good, and for those that must not bring them
 * back. `store/tombstones.ts` has the idea.
 */

export {
  addressHash,
  clearArticles,
  findBarred,
  noteCleared,
  withoutWriters,
  writeTombstones,
} from './store/tombstones.ts'
export type { Doomed, Removal } from './types.ts'

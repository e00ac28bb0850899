/*
 * The entry for programs that take articles out for good, and for those that must not bring them
 * back. `store/tombstones.ts` has the idea.
 */

export {
  AMONG_WRITERS,
  addressHash,
  adoptKey,
  barAgain,
  clearArticles,
  clearAuthors,
  countSegments,
  findBarred,
  noteCleared,
  releaseAddresses,
  withoutWriters,
  writeAgain,
  writeTombstones,
} from './store/tombstones.ts'
export type { Doomed, ListedRemoval, Removal } from './types.ts'

/*
 * The entry for programs that take articles out for good or move their outlets, and for those that
 * must know the articles again. `store/tombstones.ts` and `store/outlet-domains.ts` have the ideas.
 */

export {
  addDomains,
  addressesOn,
  allDomains,
  firstDomain,
  type OutletDomains,
  readDomains,
} from './store/outlet-domains.ts'

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

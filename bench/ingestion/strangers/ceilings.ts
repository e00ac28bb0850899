import { authorCandidates } from '../../../services/normaliser/authors/authors.ts'
import type { Candidate } from '../../../services/normaliser/candidates/candidate.ts'
import { dateCandidates, readingOf } from '../../../services/normaliser/dates/published.ts'
import type { PageMetadata } from '../../../services/normaliser/metadata/metadata.ts'
import { titleCandidates } from '../../../services/normaliser/metadata/title.ts'
import type { Outlet } from '../../../shared/outlets/catalogue.ts'

type PageOutlet = Pick<Outlet, 'name' | 'domain' | 'timeZone'>

/**
 * Candidates of one field that are compared with the truth: a page may state thousands of dates.
 */
const COMPARED = 40

/**
 * Values that some source of a page gives for a field, whichever of them the rules choose. When the
 * true one is absent, no better choice finds it. Values that something speaks against are left out.
 */
export function titlesOn(meta: PageMetadata, outlet: PageOutlet): string[] {
  return valuesOf(titleCandidates(meta, null, outlet))
}

/** Dates likewise. */
export function datesOn(meta: PageMetadata, outlet: PageOutlet): Date[] {
  const moments = valuesOf(dateCandidates(meta, null, '', readingOf(meta, outlet, new Date())))
  return moments.flatMap(({ instant }) => (instant === null ? [] : [new Date(instant)]))
}

/** Groups of authors likewise, and that of nobody: leaving all names out is a choice too. */
export function authorsOn(meta: PageMetadata, outlet: PageOutlet): string[][] {
  const { stated, shown } = authorCandidates(meta, null, outlet)
  return [[], ...valuesOf([...stated, ...shown()])]
}

function valuesOf<T>(candidates: Iterable<Candidate<T>>): T[] {
  return Iterator.from(candidates)
    .take(COMPARED)
    .flatMap(({ value, against }) => (against === null ? [value] : []))
    .toArray()
}

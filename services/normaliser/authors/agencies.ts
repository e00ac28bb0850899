import type { PageMetadata } from '#services/normaliser/metadata/metadata'
import {
  type AgencyEvidence,
  agenciesBeside,
  agencyEvidence,
  evidenceOf,
  isOfAgencies,
} from '#shared/articles/agencies'
import type { FeedEntry } from '#shared/outlets/page'
import { isNear } from './authors.ts'

/** A line that names an agency and holds nothing else: "Bron: ANP", "Quelle: dpa/AFP". */
const CREDIT = /^(?:bron(?:nen)?|sources?|quellen?|quell|credit)\s*:\s*(.{2,60})$/iu

/** The statements of a page and its feed about the agencies that sent the article. */
export function pageAgencies(
  meta: PageMetadata,
  entry: FeedEntry | null,
  body: string | null,
): AgencyEvidence[] {
  const { structured, meta: tagged } = meta.authors
  const marks = meta.marks.filter(
    mark =>
      mark.kind === 'author' && !mark.aside && !mark.ofItem && isNear(mark.line, meta.headline),
  )
  // An element with a name and an agency, such as "Jan Smit/AFP", names the source of a picture.
  const shown = marks
    .map(({ text }) => text)
    .filter(text => !/\p{L}\s*\/|^\P{L}*\//u.test(text) || isOfAgencies(text))
  const bylines = [...tagged, ...(entry?.authors ?? []), ...shown]
  const credits = meta.lines.flatMap(({ text, aside }) => {
    const said = aside ? undefined : CREDIT.exec(text)?.[1]
    return said === undefined ? [] : evidenceOf('credit', text, agenciesBeside(said))
  })
  return [
    ...structured.flatMap(({ name, organisation }) =>
      evidenceOf(organisation ? 'structured data' : 'by-line', name, agenciesBeside(name)),
    ),
    ...agencyEvidence({ authors: bylines, body }),
    ...credits,
  ]
}

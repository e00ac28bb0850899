import { rulesOn, WORD_RULES, words } from '#search/analysis/index'
import agencies from './agencies.json' with { type: 'json' }

/**
 * The version of the rules in this file and of the names beside it. Raise it with every change.
 * Each article bears the version that found its agencies.
 */
export const AGENCY_RULES: number = rulesOn(1, WORD_RULES)

/** `agencies.json` has the name that we show, and all folded names that sources use. */
const BY_NAME = new Map(
  Object.entries(agencies).flatMap(([agency, all]) => all.map(name => [name, agency] as const)),
)
/**
 * Names that are also ordinary words or other abbreviations. They count as agencies only in
 * capitals, or as `Novum`.
 */
const CAPITALS = new Set(['ap', 'apa', 'ats', 'efe', 'pa', 'sda', 'sid', 'ansa', 'novum'])

/** The place that names an agency as the sender of a text. */
export type AgencySignal = 'by-line' | 'structured data' | 'dateline' | 'either end' | 'credit'

export interface AgencyEvidence {
  agency: string
  signal: AgencySignal
  /** The words at that place. */
  words: string
}

const LABEL =
  /^(?:(?:door|von|by|par|vun|from|via|bron|sources?|quellen?|quell|tekst|texte?|with|met|mit|mat|avec|the|la|le|l|agentur|agentschap|persbureau|redactie|redaktion|rédaction|naar|nach)(?:\s*:\s*|[\s']+|$))+/iu
const BETWEEN =
  /[/,;|&+·•()[\]\n]|\s[–—-]\s|[–—]|\s(?:en|et|und|and|a|an|met|mit|mat|avec|with|via|from)\s/iu

/** The agency that a part of a byline names; null: none, or something else stands in the part. */
function agencyIn(part: string): string | null {
  const name = part
    .trim()
    .replace(LABEL, '')
    .replace(/[\s.:]+$|\s+[\d.: ]+=?$/, '')
  const folded = words(name).join(' ')
  const agency = name.includes('©') ? null : (BY_NAME.get(folded) ?? null) // © credits a picture
  return agency !== null && CAPITALS.has(folded) && !/^(?:\p{Lu}+|Novum)$/u.test(name.trim())
    ? null
    : agency
}

/** Text that may stand beside an agency: initials, a date, or who edited. */
const BESIDE = /^(?:\p{Ll}{1,6}|\p{L}{1,4}\.?|redactie|[\d.: =]+|)$/u

/** The agencies that a byline names. The byline may also name people. */
export const agenciesBeside = (byline: string): string[] =>
  byline.length > LONGEST ? [] : byline.split(BETWEEN).flatMap(part => agencyIn(part) ?? [])

/** Whether a byline names agencies and no people. */
export const isOfAgencies = (byline: string): boolean => agenciesAlone(byline).length > 0

/** The agencies of a text that consists only of their names. */
function agenciesAlone(text: string): string[] {
  if (text.length > LONGEST) return []
  const parts = text.split(BETWEEN)
  const found = parts.map(agencyIn)
  return parts.every((part, at) => found[at] !== null || BESIDE.test(part.trim()))
    ? found.flatMap(one => one ?? [])
    : []
}
const LONGEST = 120

/**
 * How many paragraphs at the beginning (`FIRST`) and at the end (`LAST`) are searched for an
 * agency.
 */
const FIRST = 2
const LAST = 3

/** "BRUSSEL (Belga) -", "KATHMANDU, April 25 (Reuters) -". */
const DATELINE =
  /^(?:[\p{Lu}\d][\p{L}\p{M}\d.'’/-]*[,:]?\s+|(?:de|la|le|den|der|am|an|of|sur|aan|(?<=\d\s)\p{Ll}{3,9})\s+){1,9}\(([^()]{2,40})\)\s*[-–—:.]/u
/** "(Belga) De minister". */
const OPENING = /^\(([^()]{2,40})\)\s/
/** "AFP - Le ministre", "PARIS, AFP -". */
const BEFORE_DASH = /^(?:[^,()–—]{2,40},\s*)?([\p{L}/ -]{2,30}?)\s+[-–—]+\s?\S/u

/**
 * Finds evidence of agencies in a text and in the names of its authors.
 *
 * @param body paragraphs, separated by blank lines
 */
export function agencyEvidence({
  authors,
  body,
}: {
  authors: string[]
  body: string | null
}): AgencyEvidence[] {
  const evidence = authors.flatMap(author => evidenceOf('by-line', author, agenciesBeside(author)))
  const paragraphs = (body ?? '').split(/\n+/).filter(one => one.trim() !== '')
  for (const paragraph of paragraphs.slice(0, FIRST)) {
    const head = paragraph.trim().slice(0, 2 * LONGEST)
    const dateline = DATELINE.exec(head) ?? OPENING.exec(head) ?? BEFORE_DASH.exec(head)
    if (dateline !== null && !/agen[ct]/i.test(dateline[0]))
      evidence.push(...evidenceOf('dateline', dateline[0], agenciesAlone(dateline[1]!)))
    evidence.push(...evidenceOf('either end', head, agenciesAlone(head)))
  }
  for (const paragraph of paragraphs.slice(-LAST)) {
    const tail = paragraph.trim().slice(-LONGEST)
    const inside = /(?:\([^()]{2,60}\)|\[[^[\]]{2,60}\])[\s.]*$/u.exec(tail)?.[0]
    const said =
      inside ?? (tail.length < LONGEST && paragraphs.indexOf(paragraph) >= FIRST ? tail : '')
    evidence.push(...evidenceOf('either end', said, agenciesAlone(said)))
  }
  return evidence
}

export const evidenceOf = (
  signal: AgencySignal,
  words: string,
  agencies: string[],
): AgencyEvidence[] => agencies.map(agency => ({ agency, signal, words: words.trim() }))

/** The agencies of the evidence, each once. */
export const agenciesOf = (evidence: AgencyEvidence[]): string[] => [
  ...new Set(evidence.map(({ agency }) => agency)),
]

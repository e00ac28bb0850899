import type { Explanation, FieldExplanation } from '../../services/normaliser/compose/explain.ts'
import { printableLine } from '../../shared/log/printable.ts'
import { FIELDS, type Field } from '../../shared/outlets/origins.ts'
import { columns } from '../terminal/terminal.ts'
import type { StoredArticle } from './find.ts'

/** Characters of a value in a line. */
const WIDTH = 90

/** An explanation for people: a paragraph for each field. */
export function explanationInWords(url: string, explanation: Explanation, stored: StoredArticle | null): string {
  const { outcome, interstitial, furniture, fields } = explanation
  const lines = [
    printableLine(url),
    ...(stored === null ? ['No article was made of it.'] : [`Article ${stored.id}.`]),
    ...(interstitial === null ? [] : [`In the article's place, or behind its opening: ${interstitial}.`]),
  ]
  if (fields === null) return [...lines, printableLine(`Today it would make no article (${outcome})`)].join('\n')
  const left = furniture.map(text => `   left out, as many pages of the outlet hold it: ${line(text)}`)
  const paragraphs = FIELDS.flatMap(field => [
    '',
    ...paragraph(field, fields[field], stored),
    ...(field === 'text' ? left : []),
  ])
  return [...lines, ...paragraphs].join('\n')
}

/** An article of an archive: no page was read, so nothing chose between candidates. */
export function importedInWords(stored: StoredArticle): string {
  return [
    printableLine(stored.url),
    `Article ${printableLine(stored.id)}.`,
    'It was imported from an archive (npm run import), so its fields are those of the archive, and no page was read.',
    ...FIELDS.flatMap(field => ['', `${field}: ${line(storedValue(field, stored) ?? 'none')}`]),
  ].join('\n')
}

function paragraph(field: Field, { origin, value, why, candidates }: FieldExplanation, stored: StoredArticle | null) {
  const head = value === null ? 'none' : `${origin.source}, ${origin.sure}`
  const rows = candidates.map(({ source, value: said, against, chosen }) => [
    chosen ? '  *' : '   ',
    source,
    line(said),
    against ?? '',
  ])
  return [
    `${field}: ${head}. ${why}`,
    ...(rows.length === 0 ? [] : [columns(rows)]),
    ...storedNote(field, value, stored),
  ]
}

/** Whether the stored article differs. A visible article never changes (decision 24). */
function storedNote(field: Field, value: string | null, stored: StoredArticle | null): string[] {
  if (stored === null) return []
  const kept = storedValue(field, stored)
  const origin = stored.origins?.[field]
  const from = origin === undefined ? '' : ` (${origin.source}, ${origin.sure})`
  const isSame = value === kept || (field === 'text' && kept?.startsWith((value ?? '').replace(/…$/, '')))
  return isSame ? [] : [`   stored: ${kept === null ? 'none' : line(kept)}${from}; visible articles do not change`]
}

function storedValue(field: Field, { title, date, authors, text, language }: StoredArticle): string | null {
  return { title, date, authors: authors.join(', ') || null, text, language }[field]
}

function line(text: string): string {
  const one = printableLine(text.replace(/\s+/g, ' '))
  return one.length <= WIDTH ? one : `${one.slice(0, WIDTH)}…`
}

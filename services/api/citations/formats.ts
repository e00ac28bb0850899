import type { ArticleObject } from '#services/api/contract/resources'

/** The formats of a citation's files, by the end of the address. */
export const FORMATS = ['json', 'csv', 'bib', 'ris'] as const
export type Format = (typeof FORMATS)[number]

export const TYPES: Record<Format, string> = {
  json: 'application/json; charset=utf-8',
  csv: 'text/csv; charset=utf-8',
  bib: 'application/x-bibtex; charset=utf-8',
  ris: 'application/x-research-info-systems; charset=utf-8',
}

/** A text on one line. */
const inLine = (text: string) => text.replace(/[\s\p{Cc}]+/gu, ' ').trim()

const TEX: Record<string, string> = {
  '\\': '\\textbackslash{}',
  '~': '\\textasciitilde{}',
  '^': '\\textasciicircum{}',
}
const tex = (text: string) =>
  inLine(text).replace(/[\\{}$&#%_~^]/g, sign => TEX[sign] ?? `\\${sign}`)

/** A cited article or search. Empty fields are left out of the formats. */
export interface Work {
  id: string
  title: string
  authors: string[]
  outlet?: string
  /** As `2026-11-20`. */
  day: string
  language?: string
  note?: string
  url: string
}

/** An entry of BibTeX. */
export function bibtexOf({
  id,
  title,
  authors,
  outlet = '',
  day,
  language = '',
  note = '',
  url,
}: Work): string {
  const fields = {
    title: `{${tex(title)}}`,
    author: authors.map(name => `{${tex(name)}}`).join(' and '),
    howpublished: tex(outlet),
    year: day.slice(0, 4),
    date: day,
    url: tex(url),
    language,
    note,
  }
  const written = Object.entries(fields).flatMap(([name, value]) =>
    value === '' ? [] : `  ${name} = {${value}},\n`,
  )
  return `@misc{${id.replace(/[^\w.:-]/g, '-')},\n${written.join('')}}\n`
}

/** A record of RIS. */
export function risOf(
  type: 'NEWS' | 'DATA',
  { id, title, authors, outlet = '', day, language = '', note = '', url }: Work,
): string {
  const tags: [tag: string, value: string][] = [
    ['ID', type === 'NEWS' ? id : ''],
    ['TI', title],
    ...authors.map((name): [string, string] => ['AU', name]),
    ['JO', outlet],
    ['PY', day.slice(0, 4)],
    ['DA', day.replaceAll('-', '/')],
    ['LA', language],
    ['N1', note],
    ['UR', url],
  ]
  const written = tags
    .filter(([, value]) => value !== '')
    .map(([tag, value]) => `${tag}  - ${inLine(value)}\r\n`)
  return [`TY  - ${type}\r\n`, ...written, 'ER  - \r\n'].join('')
}

export const workOf = ({
  id,
  title,
  authors,
  outlet,
  published_at,
  language,
  url,
}: ArticleObject): Work => ({
  id,
  title,
  language,
  url,
  authors: authors.map(({ name }) => name),
  outlet: outlet.name ?? outlet.domain ?? '',
  day: published_at?.slice(0, 10) ?? '',
})

import type { Country } from '#shared/articles/article'
import { type Citation, removedOn } from '#shared/desk/citations'
import { counted } from '#shared/log/printable'
import { bibtexOf, risOf, TYPES } from './formats.ts'

/** The content of a citation's page, beside the program that shows it. */
export interface Told {
  /** Data by media type. */
  data: Record<string, object>
  /** The same content in lines, for readers without scripts. */
  lines: string[]
}

export const addressOf = ({ digest }: Pick<Citation, 'digest'>): string => `/cite/${digest}`

/** A citation as everybody may see it. */
export interface CitationObject {
  address: string
  url: string
  digest: string
  search: string
  count: number
  cited_at: string
  as_of: string
  watermark: number
  reach: { countries: Country[]; since: string }
  rules: number
  ids_only: boolean
  /** The model of a search by meaning; absent: it is a search by words. */
  model?: string | null
  bias?: string | null
}

export function citationObject(citation: Citation, publicUrl: string): CitationObject {
  const address = addressOf(citation)
  const { digest, search, articles: count, countries, model, bias } = citation
  return {
    address,
    url: `${publicUrl}${address}`,
    digest,
    search,
    count,
    cited_at: citation.citedAt.toISOString(),
    as_of: citation.asOf.toISOString(),
    watermark: Number(citation.watermark),
    reach: { countries, since: citation.since.toISOString() },
    rules: citation.rules,
    ids_only: model !== null,
    ...(model === null ? {} : { model, bias }),
  }
}

/** The names of the service that stand in citations. */
interface ServiceNames {
  publicUrl: string
  serviceName: string
}

/** What each parameter of a search says. */
const SAID: Record<string, (value: string) => string> = {
  search: mode => (mode === 'semantic' ? 'by meaning' : `(${mode})`),
  search_in: where => (where === 'title' ? 'in titles' : 'in titles and texts'),
  country: countries => `outlets of ${countries}`,
  language: languages => `in the languages ${languages}`,
  has_author: has => (has === 'true' ? 'with an author' : 'without an author'),
  outlet: part => `outlets named “${part}”`,
  outlets: domains => `outlets ${domains}`,
  author: part => `by “${part}”`,
  section: name => `in the section “${name}”`,
  kind: kinds => `of the kinds ${kinds}`,
  access: access => (access === 'free' ? 'free to read' : 'for those who pay'),
  published_after: time => `published since ${time}`,
  published_before: time => `published until ${time}`,
  ingested_after: time => `here since ${time}`,
}

/** A search in words, as it stands in a citation. Its order says nothing of what it finds. */
function inWords(search: string): string {
  const { q, search: mode, ...filters } = Object.fromEntries(new URLSearchParams(search))
  const asked = q === undefined ? 'for all' : `“${q}”`
  const said = Object.entries(filters).flatMap(([name, value]) => SAID[name]?.(value) ?? [])
  return [mode === undefined ? asked : `${asked} ${SAID.search!(mode)}`, ...said].join(', ')
}

/** Texts that show how to cite the citation, for people and for their programs. */
function textsOf(
  citation: Citation,
  { publicUrl, serviceName }: ServiceNames,
): CitationObject & Record<'name' | 'line' | 'bibtex' | 'ris', string> {
  const object = citationObject(citation, publicUrl)
  const { url, digest, search, count, cited_at } = object
  const name = `${counted(count, 'article')} of the search ${inWords(search)}`
  const day = cited_at.slice(0, 10)
  const note = `Cited ${cited_at}. SHA-256 ${digest}`
  const work = {
    id: `perscope-${digest.slice(0, 12)}`,
    title: name,
    authors: [serviceName],
    day,
    note,
    url,
  }
  return {
    ...object,
    name,
    line: `${serviceName} (${day.slice(0, 4)}): ${name}. ${note}. ${url}`,
    bibtex: bibtexOf(work),
    ris: risOf('DATA', work),
  }
}

/**
 * The content of a citation's page: data for programs and for the page, and lines of text.
 *
 * @param removed a sentence on its articles that were taken out; null: all are there
 */
export function toldOf(citation: Citation, parts: ServiceNames, removed: string | null): Told {
  const { keyEnded } = citation
  const texts = { ...textsOf(citation, parts), removed, key_ended: keyEnded }
  const { url, name, line, digest, cited_at } = texts
  const dataset = {
    '@context': 'https://schema.org',
    '@type': 'Dataset',
    '@id': url,
    url,
    name,
    identifier: [url, `sha256:${digest}`],
    description: line,
    citation: line,
    dateCreated: cited_at,
    version: digest,
    isAccessibleForFree: false,
    publisher: { '@type': 'Organization', name: parts.serviceName },
    distribution: (['json', 'csv'] as const).map(format => ({
      '@type': 'DataDownload',
      contentUrl: `${url}.${format}`,
      encodingFormat: TYPES[format].split(';')[0],
    })),
  }
  return {
    data: { 'application/ld+json': dataset, 'application/json': texts },
    lines: [
      name,
      ...(removed === null ? [] : [removed]),
      ...(keyEnded ? ['The key that made it has ended.'] : []),
      line,
      texts.bibtex,
      texts.ris,
    ],
  }
}

/** The content of the page of a citation that an operator removed. */
export const removedOf = (digest: string, at: Date): Told => ({
  data: { 'application/json': { digest, removed_at: at.toISOString() } },
  lines: [removedOn(at)],
})

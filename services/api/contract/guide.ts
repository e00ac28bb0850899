import { readFileSync } from 'node:fs'
import { listedStopWords } from '#search/analysis/index'
import { LANGUAGES, type Language } from '#shared/articles/article'
import { ERROR_CODES, ERRORS } from './errors.ts'
import { LIMITS } from './parameters.ts'
import { HEADERS } from './resources.ts'

const TEXT = readFileSync(new URL('guide.md', import.meta.url), 'utf8')

/** The introduction to the reference, in Markdown. Its tables are printed from the definitions. */
export function guide(serviceName: string): string {
  const headers = Object.entries(HEADERS).filter(
    ([name]) => name.startsWith('X-') || name === 'Retry-After',
  )
  const filled: Record<string, string | number> = {
    service: serviceName,
    candidates: LIMITS.candidates,
    headers: headers.map(([name, { about }]) => `| \`${name}\` | ${about} |`).join('\n'),
    errors: ERROR_CODES.map(
      code => `| \`${code}\` | ${ERRORS[code].status} | ${ERRORS[code].when} |`,
    ).join('\n'),
    stopWords: LANGUAGES.map(language => `- **${language}**: ${stopWordsOf(language)}`).join('\n'),
  }
  return TEXT.trim().replace(/\{(\w+)\}/g, (_, name) => String(filled[name]))
}

function stopWordsOf(language: Language): string {
  const { base, added } = listedStopWords(language)
  return [...base, ...added].sort(new Intl.Collator(language).compare).join(' ')
}

/**
 * A search that finds articles at the sample outlets of `npm start` and on any day at real ones.
 * The guide and the reference page show it.
 */
export const EXAMPLE_SEARCH = 'q=trein&country=NL,BE'

/** A page that this search returns, cut to one article. */
export const PAGE_EXAMPLE = {
  status: 'ok',
  total_results: 2,
  next_cursor: 'AWY3ZTQx…',
  articles: [
    {
      id: 'a1f0c2e9b7d64e55',
      title: 'Trein naar Leeuwarden krijgt batterij in plaats van diesel',
      url: 'https://noorderkrant.example/verkeer/trein-naar-leeuwarden',
      snippet: 'Op het spoor tussen Groningen en Leeuwarden verdwijnt de diesellucht.',
      published_at: '2026-11-20T08:00:00.000Z',
      ingested_at: '2026-11-20T08:04:11.250Z',
      authors: [{ id: '5c1f0a7e', name: 'Anna de Wit' }],
      outlet: { name: 'Noorderkrant', domain: 'noorderkrant.example' },
      language: 'nl',
      country: 'NL',
    },
  ],
}

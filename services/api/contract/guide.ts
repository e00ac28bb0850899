import { listedStopWords } from '../../../search/analysis/index.ts'
import { LANGUAGES, type Language } from '../../../shared/articles/article.ts'
import { ERROR_CODES, ERRORS } from './errors.ts'
import { LIMITS } from './parameters.ts'
import { HEADERS } from './resources.ts'

/** The introduction to the reference, in Markdown. Its tables are printed from the definitions. */
export function guide(serviceName: string): string {
  return `
${serviceName} indexes what news outlets in the Netherlands, Belgium and Luxembourg publish and lets you search it.
Two operations take the same parameters: \`/v1/articles\` answers JSON with a cursor, \`/v1/articles.rss\` one page of RSS 2.0.
You get a snippet of each article and the address at its outlet, never the whole text.

## Search modes

- **keyword** finds articles with any of the words, by their stem in the article's language. Of articles equal in the
  sort field, the closer match comes first. The stop words of that language do not count, unless \`q\` has nothing else: then
  they match as written. The lists are at the end of this page.
- **boolean** reads \`word word\` (all must appear), \`"a phrase"\`, \`-excluded\`, \`-"an excluded phrase"\`. Words match as written,
  but for case and accents. There is no OR. Other punctuation separates words: \`COVID-19\` is \`COVID\` and \`19\`.
- **semantic** finds the ${LIMITS.candidates} articles of your plan's reach closest in meaning, then applies your filters to them. New
  articles join some hours after they enter the index.

## Parameters

Values of lists are written \`country=NL&country=BE\`, \`country[]=NL&country[]=BE\` or \`country=NL,BE\`. Names of values may be in
any case. An empty value counts as not given. A parameter that does not exist, or is given twice, is refused: a filter
that is silently ignored would be a wrong answer. Times are UTC unless they carry an offset.

Without \`published_after\`, results begin at your plan's history start. Articles whose time of publication is not known
are found only without \`published_after\` and \`published_before\`, and come last in both orders.

## Pages

Pass \`next_cursor\` as \`cursor\` and leave every other parameter as it was, until it is null. The pages together are the result
set as it stood when you began, although new articles arrive all the time. Cursors of keyword and boolean searches
stay good; a semantic sequence should be read within five minutes, and ends after ten with \`errors.cursor: ["expired"]\`.

## Polling for new articles

Articles arrive minutes to hours after their publication, so don't poll by \`published_after\`. Ask with

\`\`\`
ingested_after=<latest ingested_at that you have>&sort=ingested_at&order=asc&per_page=100
\`\`\`

and follow \`next_cursor\` until it is null. The first time you have no \`ingested_at\` yet: leave \`ingested_after\` out to get
all that your plan covers, or send the time from which on you want articles. Keep the latest \`ingested_at\` for the next
poll. The bound is inclusive, so drop what you have by \`id\`. \`ingested_at\` grows in the order in which articles become
visible, so you miss none. Articles that are imported with times of their own are the one exception.

Send the \`ETag\` of the last answer as \`If-None-Match\` when you ask the same again: 304 says that nothing is new. An answer
with a \`next_cursor\` is best asked for whole, because the \`ETag\` does not cover the pages after it.

## Limits and counters

| Header | Meaning |
|---|---|
${Object.entries(HEADERS)
  .filter(([name]) => name.startsWith('X-') || name === 'Retry-After')
  .map(([name, { about }]) => `| \`${name}\` | ${about} |`)
  .join('\n')}

Every request with a valid key costs one of the minute, errors included, unless the minute itself refuses it. Only
answers with articles, and 304, cost one of the month.

## Errors

Tell errors apart by \`code\`; \`message\` may change.

| code | status | when |
|---|---|---|
${ERROR_CODES.map(code => `| \`${code}\` | ${ERRORS[code].status} | ${ERRORS[code].when} |`).join('\n')}

## Versions

New response fields, error codes and optional parameters may be added within \`/v1\`. Anything else becomes \`/v2\`, beside it.

## Stop words

A keyword search ignores these in articles of their language, without regard to case and accents.

${LANGUAGES.map(language => `- **${language}**: ${stopWordsOf(language)}`).join('\n')}
`.trim()
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

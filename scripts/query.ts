import type { Article, ArticlesQuery, Page } from '../clients/typescript/src/index.ts'
import { printableLine, printableXml } from '../shared/log/printable.ts'
import { runCommand, UsageError, wholeNumber } from '../shared/process/command.ts'
import { CONNECTION_OPTIONS, queryOptions, readQuery, withApi } from './terminal/api-options.ts'

await runCommand(
  {
    name: 'query',
    about: [
      'Searches through the API and prints the articles as a table, or as JSON.',
      'PARAMETERS are those of /v1/articles, such as --search and --country.',
    ].join('\n'),
    usage: [
      '[WORDS] [PARAMETERS] [--pages N] [--json | --rss] [--url URL] [--key KEY]',
      '"trein -staking" --search boolean --country NL,BE',
      '--language lb --pages 3 --json',
    ],
    options: {
      ...queryOptions(),
      pages: { type: 'string', about: 'how many pages to print; 1 by default', value: 'N' },
      json: { type: 'boolean', about: 'prints the page, or each page on a line, as the API sent it' },
      rss: { type: 'boolean', about: 'prints the feed instead' },
      ...CONNECTION_OPTIONS,
    },
    beside: true,
  },
  async context => {
    const { positionals, options, print, say } = context
    if (positionals.length > 1) throw new UsageError('Put the words to search for in quotes; they are one argument.')
    const query = readQuery(positionals[0] === undefined ? options : { ...options, q: positionals[0] })
    const limit = wholeNumber('pages', options.pages, 1_000_000) ?? 1
    await withApi(context, 2, async client => {
      if (options.rss === true) return print(printableXml((await client.feed(query)).trimEnd()))
      let printed = 0
      for await (const page of client.pages(query)) {
        print(options.json === true ? JSON.stringify(page) : pageTable(page, process.stdout.columns ?? 120))
        if (page.total_results === 0 && looksInTitlesOnly(query)) {
          say('Only headlines were searched; --search-in title_body looks in the texts too.')
        }
        if (++printed === limit) break
      }
    })
  },
)

function looksInTitlesOnly({ q, search, search_in }: ArticlesQuery): boolean {
  return q !== undefined && search !== 'semantic' && search_in !== 'title_body'
}

/**
 * A page for people: one line for each headline and one for its address, cut to the terminal's
 * width.
 */
function pageTable(page: Page, width: number): string {
  const more = page.total_results_is_estimate ? ' or more' : ''
  const lines = page.articles.flatMap(article => [headline(article, width), `  ${printableLine(article.url)}`])
  return [...lines, `${page.articles.length} of ${page.total_results.toLocaleString('en')}${more}`].join('\n')
}

function headline(article: Article, width: number): string {
  const time = article.published_at?.slice(0, 16).replace('T', ' ') ?? '     no date    '
  const relevance = article.relevance === undefined ? '' : `${article.relevance.toFixed(4)}  `
  const outlet = article.outlet.name ?? article.outlet.domain ?? ''
  const words = printableLine(`${article.title}  (${outlet})`)
  return cut(`${time}  ${article.country} ${article.language}  ${relevance}${words}`, width)
}

/** Cut between characters as people see them, never within one. */
function cut(text: string, width: number): string {
  const characters = Array.from(new Intl.Segmenter().segment(text), ({ segment }) => segment)
  return characters.length <= width ? text : `${characters.slice(0, width - 1).join('')}…`
}

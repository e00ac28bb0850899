import type { ArticlesQuery } from '../clients/typescript/src/index.ts'
import { printableXml } from '../shared/log/printable.ts'
import { runCommand, UsageError } from '../shared/process/command.ts'
import { CONNECTION_OPTIONS, withApi } from './client/api.ts'
import { queryOptions, readQuery } from './client/options.ts'
import { pageTable } from './client/page-table.ts'

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
    const limit = Number(options.pages ?? 1)
    if (!Number.isInteger(limit) || limit < 1) throw new UsageError('--pages is the number of pages, 1 or more.')
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

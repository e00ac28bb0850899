import { printableXml } from '../shared/log/printable.ts'
import { runCommand, sentenceOf, UsageError } from '../shared/process/command.ts'
import { createClient } from './client/client.ts'
import { CONNECTION_OPTIONS, connection, queryOptions, readQuery } from './client/options.ts'
import { pageTable } from './client/page-table.ts'

await runCommand(
  {
    name: 'query',
    about: 'Searches through the API and prints the articles as a table, or as JSON.',
    usage: ['"brug -tunnel" [--search boolean] [--country NL,BE] …', '--language lb --pages 3 --json'],
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
    const { positionals, options, print, say, signal } = context
    if (positionals.length > 1) throw new UsageError('Put the words to search for in quotes; they are one argument.')
    const query = readQuery(positionals[0] === undefined ? options : { ...options, q: positionals[0] })
    const limit = Number(options.pages ?? 1)
    if (!Number.isInteger(limit) || limit < 1) throw new UsageError('--pages is the number of pages, 1 or more.')
    const client = createClient({
      ...(await connection(context)),
      signal,
      retries: 2,
      onWait: (ms, reason) => say(`Waiting ${Math.ceil(ms / 1_000)} s: ${sentenceOf(reason)}`),
    })
    if (options.rss === true) return print(printableXml((await client.feed(query)).trimEnd()))
    let printed = 0
    for await (const page of client.pages(query)) {
      print(options.json === true ? JSON.stringify(page) : pageTable(page, process.stdout.columns ?? 120))
      if (++printed === limit) break
    }
  },
)

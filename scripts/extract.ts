import { type CommandContext, runCommand, sentenceOf, UsageError } from '../shared/process/command.ts'
import { type Line, readLines } from './archive/groups.ts'
import { feedReader, robotsReader } from './extract/feeds.ts'
import type { Reader } from './extract/line.ts'
import { pageReader } from './extract/pages.ts'

/** Bytes of one line: a page of the largest size, with its characters escaped. */
const LONGEST_LINE = 64_000_000

await runCommand(
  {
    name: 'extract',
    about: [
      'Makes of pages, feeds or robots.txt what the product makes of them, without a database or a network.',
      'Reads one JSON object a line from standard input and prints one a line, in order:',
      '  {"url", "html"|"file", "status"?, "headers"?, "entry"?, "outlet"?, "now"?}',
      '    the article’s fields and their origins, or {"refused": reason}',
      '  --feeds   {"url", "file"|"text", "contentType"?}   {"entries": [ … ]}, or {"entries": null}',
      '  --robots  {"file"|"text", "agent", "urls"}         {"allowed": [true, … ], "crawlDelay": seconds}',
      '"entry" is the feed’s: {"title", "summary", "content", "authors", "published", "guid", "language"}.',
      '"outlet" is the catalogue’s: {"name", "domain", "country", "languages", "timeZone", "hosts"}.',
      'A line that cannot be read gives {"error": sentence}, and the next one goes on.',
    ].join('\n'),
    usage: ['[--together] < pages.ndjson', '--feeds < feeds.ndjson', '--robots < robots.ndjson'],
    options: {
      feeds: { type: 'boolean', about: 'reads feeds and sitemaps' },
      robots: { type: 'boolean', about: 'reads robots.txt files' },
      together: { type: 'boolean', about: 'reads the pages of one outlet in order, with what earlier ones taught' },
    },
  },
  async context => {
    const { config, options, positionals } = context
    if (positionals.length > 0) throw new UsageError('Lines are read from standard input; see --help.')
    if ([options.feeds, options.robots, options.together].filter(Boolean).length > 1) {
      throw new UsageError('--feeds, --robots and --together do not go together.')
    }
    const reader = options.feeds ? feedReader(config) : options.robots ? robotsReader(config) : pageReader(context)
    try {
      const ahead = options.together ? 1 : config.NORMALISE_THREADS * 2
      await inOrder(readLines(process.stdin, LONGEST_LINE), ahead, context, reader)
    } finally {
      await reader.close()
    }
  },
)

/** Prints a result for each line in the order of the lines, of which `ahead` are read at a time. */
async function inOrder(
  lines: AsyncIterable<Line | null>,
  ahead: number,
  { print, signal }: CommandContext,
  reader: Reader,
) {
  const results: Promise<object>[] = []
  const printFirst = async () => print(JSON.stringify(await results.shift()))
  for await (const line of lines) {
    if (signal.aborted) break
    if (line === null) continue
    const { text, number } = line
    results.push(resultOf(text, number, reader))
    if (results.length >= ahead) await printFirst()
  }
  while (results.length > 0) await printFirst()
}

async function resultOf(text: string | null, number: number, reader: Reader): Promise<object> {
  try {
    if (text === null) throw new Error(`the line is longer than ${LONGEST_LINE} bytes`)
    const line: unknown = JSON.parse(text)
    return await reader.read(line, number)
  } catch (error) {
    return { error: sentenceOf(error) }
  }
}

import { readFile, stat } from 'node:fs/promises'
import { explainPage } from '../services/normaliser/compose/explain.ts'
import type { StoredPage } from '../shared/outlets/page.ts'
import { createPool } from '../shared/postgres/pool.ts'
import { type CommandContext, missingSetting, runCommand, sentenceOf, UsageError } from '../shared/process/command.ts'
import { fetchPage } from './explain/fetch.ts'
import { type FoundPage, findPage } from './explain/find.ts'
import { explanationInWords, importedInWords } from './explain/print.ts'
import { strangePage } from './explain/strange.ts'

await runCommand(
  {
    name: 'explain',
    about: [
      'Says where the title, date, authors, text and language of an article come from. It reads the stored page as the',
      'normaliser does today, and prints the candidates of each field in order of rank, and why one won. Nothing is stored.',
      'ID is that of an article, or page:N. It is looked for in the newest articles first; an old one takes longer.',
    ].join('\n'),
    usage: ['ID | URL [--fetch] [--json]', '[ID | URL] --file page.html [--json]'],
    options: {
      fetch: { type: 'boolean', about: 'asks the outlet for the page again, when it is no longer stored' },
      file: { type: 'string', value: 'FILE', about: 'reads this HTML in place of the stored page' },
      json: { type: 'boolean', about: 'prints one object: the page, its candidates, the article as stored' },
    },
    beside: true,
  },
  async context => {
    const { options, positionals, print } = context
    const [word, ...rest] = positionals
    if (rest.length > 0) throw new UsageError('Name one article or page.')
    if (word === undefined && typeof options.file !== 'string') {
      throw new UsageError('Name an article by its id or address, or --file; see --help.')
    }
    const found = word === undefined ? null : await lookUp(context, word)
    if (found?.stored && found.id === null && options.file === undefined && options.fetch !== true) {
      if (options.json === true)
        print(JSON.stringify({ url: found.stored.url, page: null, imported: true, stored: found.stored }))
      else print(importedInWords(found.stored))
      return
    }
    const page = await pageToRead(context, word ?? null, found)
    const explanation = await explainPage(page, new Date(), found?.template ?? null)
    const stored = found?.stored ?? null
    if (options.json === true) print(JSON.stringify({ url: page.url, page: found?.id ?? null, ...explanation, stored }))
    else print(explanationInWords(page.url, explanation, stored))
  },
)

/** Null: there is no database to look into, or it does not know the page. */
async function lookUp({ config, options }: CommandContext, word: string): Promise<FoundPage | null> {
  if (config.DATABASE_URL === '') {
    if (options.file !== undefined) return null
    throw missingSetting('DATABASE_URL', config)
  }
  const pool = createPool(config.DATABASE_URL, 'explain', () => {}, { max: 1, statementTimeout: 60_000 })
  try {
    return await findPage(pool, word)
  } finally {
    await pool.end()
  }
}

/** @throws UsageError when there is nothing to read */
async function pageToRead(
  { config, options, signal }: CommandContext,
  word: string | null,
  found: FoundPage | null,
): Promise<StoredPage> {
  if (typeof options.file === 'string') {
    const page = found?.page ?? strangePage(word)
    return { ...page, status: 200, contentType: null, body: await fileOf(options.file, config.CRAWL_MAX_BYTES) }
  }
  if (found?.page && found.isKept) return found.page
  const page = found?.page ?? (word !== null && URL.canParse(word) ? strangePage(word) : null)
  if (page === null) throw new UsageError(`No article or page is known as "${word}".`)
  if (options.fetch === true) return fetchPage(config, page, signal)
  throw new UsageError(
    found === null
      ? 'The crawler does not know this page; --fetch asks the outlet for it.'
      : 'The page is no longer stored (PAGES_KEEP); --fetch asks the outlet for it again, --file reads a file.',
  )
}

async function fileOf(file: string, most: number): Promise<Buffer> {
  try {
    const { size } = await stat(file)
    if (size > most) throw new Error(`it is larger than ${most} bytes (CRAWL_MAX_BYTES)`)
    return await readFile(file)
  } catch (error) {
    throw new UsageError(`"${file}" cannot be read: ${sentenceOf(error)}`)
  }
}

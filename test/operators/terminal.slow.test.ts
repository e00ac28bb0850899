import { execFile } from 'node:child_process'
import { join } from 'node:path'
import t from 'tap'
import { syncOutlets } from '#scripts/outlets/sync'
import { printableLine } from '#shared/log/printable'
import { startTestApi } from '#test/contract/api'
import { runScript } from '#test/script'

/*
 * Texts by others reach the terminals of operators: titles, addresses, errors of feeds and pages.
 * None of them may move the cursor, rename the window or turn the direction of a line.
 */

/**
 * Clears the screen, in two spellings; rings; goes back to the start of the line; turns the
 * direction.
 */
const HOSTILE = 'Nieuws \u001b[2J\u009b2J\u0007\r\u202eOK\u007f einde'
const SHOWN = 'Nieuws \\u001b[2J\\u009b2J\\u0007\\u000d\\u202eOK\\u007f einde'
const OBEYED = /[\p{Cc}\u202A-\u202E\u2066-\u2069]/u

const api = await startTestApi(t)
const { secret } = await api.issue()
await api.index([{ title: HOSTILE, language: 'nl', country: 'NL' }])
await syncOutlets(api.pool, [
  {
    name: 'X',
    domain: 'x.example',
    country: 'NL',
    languages: ['nl'],
    timeZone: 'Europe/Amsterdam',
    feeds: ['https://x.example/feed'],
    sitemaps: [],
  },
])
await api.pool.query('update feeds set failures = 9, last_error = $1', [HOSTILE])
await api.pool.query(
  `insert into pages (outlet_no, url, crawl_key, host, state, reason, detail, finished_at)
   select outlet_no, 'https://x.example/' || $1, 'x', 'x.example', 'failed', 'error', $1, now() from outlets`,
  [HOSTILE],
)

const run = (name: string, ...args: string[]) =>
  runScript(name, args, { DATABASE_URL: api.config.DATABASE_URL, REDIS_URL: '' })
const lines = (text: string) => text.split('\n').filter(line => line !== '')

t.test('JSON says the same to whoever reads it, without control characters', async t => {
  const place = join(t.testdir(), 'place')
  const { title } = (await api.ask(secret, '/v1/articles')).json.articles[0]
  const poll = ['poll', '--once', '--place', place, '--url', api.base, '--key', secret] as const
  for (const [name, ...args] of [poll, ['export']] as const) {
    const { out } = await run(name, ...args)
    t.notMatch(out.trimEnd(), OBEYED, name)
    t.equal(JSON.parse(out).title, title)
  }
})

t.test('errors of feeds and pages are shown without what a terminal obeys', async t => {
  for (const [name, ...args] of [
    ['outlets', 'list'],
    ['queues', 'list'],
    ['pages', 'list'],
    ['status'],
    ['poll', `--${HOSTILE}`],
    ['outlets', 'check', `/none/${HOSTILE}`],
  ] as const) {
    const { out, err } = await run(name, ...args)
    const text = out + err
    t.not(text, '', name)
    if (name !== 'status') t.match(text, SHOWN, name)
    for (const line of lines(text)) t.notMatch(line, OBEYED, `${name}: ${JSON.stringify(line)}`)
  }
})

t.test('a line of a log is JSON without them', async t => {
  const script = `import { createLogger } from ${JSON.stringify(new URL('../../shared/log/logger.ts', import.meta.url).href)}
createLogger('x', 'info').warn({ err: ${JSON.stringify(HOSTILE)} }, 'failed')`
  const text = await new Promise<string>(resolve => {
    execFile(process.execPath, ['--input-type=module', '-e', script], (_, out, err) =>
      resolve(`${out}${err}`),
    )
  })
  t.notMatch(text.trimEnd(), OBEYED)
  t.equal(JSON.parse(text).err, HOSTILE)
})

t.test('a cell of a table has no line break either', async t => {
  t.equal(printableLine('a\nb\tc'), 'a\\u000ab\\u0009c')
})

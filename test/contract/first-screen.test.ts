import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { sampleArticles } from '../../infra/outlets/sample/outlets.ts'
import { EXAMPLE_SEARCH, PAGE_EXAMPLE } from '../../services/api/contract/guide.ts'
import { startTestApi } from './api.ts'

/* The first screen of /docs: what it shows is run as it stands there, and finds sample articles. */

t.setTimeout(240_000)
const run = promisify(execFile)
const has = (program: string) =>
  run(program, ['--version']).then(
    () => true,
    () => false,
  )

const api = await startTestApi()
t.teardown(() => api.stop())
const { secret } = await api.issue()
const page = (await api.ask(null, '/docs')).text
const env = { ...process.env, PERSCOPE_URL: api.base, PERSCOPE_KEY: secret }

/** The text of an element of the page, as a reader copies it. */
function shown(id: string): string {
  const html = new RegExp(`<code id="${id}">([^<]*)</code>`).exec(page)?.[1] ?? ''
  return html.replace(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)))
}

const samples = sampleArticles().map(({ title, paragraphs, language, publishedAt, outlet: { domain, country } }) => ({
  ...{ title, body: paragraphs.join(' '), language, country, publishedAt, outlet: { name: domain, domain } },
}))
await api.index(samples)

t.test('issue 21.8: the first request finds sample articles', async t => {
  const command = shown('example-request')
  t.ok(command.includes(EXAMPLE_SEARCH))
  const { stdout } = await run('sh', ['-c', `${command} --silent`], { env })
  const answer = JSON.parse(stdout)
  t.equal(answer.total_results, PAGE_EXAMPLE.total_results)
  t.ok(answer.articles.some(({ title }: { title: string }) => title === PAGE_EXAMPLE.articles[0]?.title))
  t.strictSame(Object.keys(answer.articles[0]), Object.keys(PAGE_EXAMPLE.articles[0]!))
})

t.test('issue 21.9: the examples of `npm run query` find sample articles', async t => {
  const file = new URL('../../scripts/query.ts', import.meta.url).pathname
  const { stdout: help } = await run(process.execPath, [file, '--help'])
  const readme = await readFile(new URL('../../README.md', import.meta.url), 'utf8')
  // The line with brackets says what may be written, and is no example.
  const examples = [...`${help}\n${readme}`.matchAll(/npm run query -- ([^[`\n][^`\n]*)/g)].map(([, typed]) => typed)
  t.equal(examples.length, 3)
  for (const typed of examples) {
    const command = `${process.execPath} ${file} ${typed} --url ${api.base} --key ${secret}`
    const { stdout } = await run('sh', ['-c', command], { env })
    t.match(stdout, /^\d+ of [1-9]|"total_results":[1-9]/m, command)
  }
})

const PROGRAMS = [
  { id: 'example-curl', file: 'poll.sh', command: 'sh', needs: ['curl', 'jq'] },
  { id: 'example-typescript', file: 'poll.ts', command: process.execPath, needs: [] },
  { id: 'example-python', file: 'poll.py', command: 'python3', needs: ['python3'] },
]
for (const { id, file, command, needs } of PROGRAMS) {
  const missing = (await Promise.all(needs.map(has))).indexOf(false)
  const skip = missing < 0 ? false : `no ${needs[missing]} on this machine`
  t.test(`issue 21.8: ${file} as it is shown prints each article once, over several runs`, { skip }, async t => {
    const folder = t.testdir()
    await writeFile(join(folder, file), shown(id))
    const poll = async () => {
      const { stdout } = await run(command, [file], { cwd: folder, env })
      return stdout.split('\n').filter(line => line !== '')
    }
    const first = await poll()
    t.strictSame(
      first.map(line => line.split('\t')[1]).sort(),
      (await api.pool.query<{ id: string }>('select id from articles')).rows.map(row => row.id).sort(),
    )
    t.strictSame(first, [...first].sort(), 'oldest first')
    t.strictSame(await poll(), [], 'nothing is new')
    await api.index([{ title: `Nieuw voor ${file}` }, { title: 'Tegelijk', publishedAt: null }])
    t.strictSame((await poll()).map(line => line.split('\t')[2]).sort(), [`Nieuw voor ${file}`, 'Tegelijk'].sort())
    t.strictSame(await poll(), [])
  })
}

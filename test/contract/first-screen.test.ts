import { readFile } from 'node:fs/promises'
import t from 'tap'
import { EXAMPLE_SEARCH, PAGE_EXAMPLE } from '#services/api/contract/guide'
import { examplesOf } from '#test/clients/examples'
import { sampleArticles } from '#test/sample'
import { run, succeeds } from '#test/script'
import { startTestApi } from './api.ts'

/* The first screen of /docs: what it shows is run as it stands there, and finds sample articles. */

const api = await startTestApi(t)
const { secret } = await api.issue()
const page = (await api.ask(null, '/docs')).text
const env = { ...process.env, PERSCOPE_URL: api.base, PERSCOPE_KEY: secret }

/** The text of an element of the page, as a reader copies it. */
function shown(id: string): string {
  const html = new RegExp(`<code id="${id}">([^<]*)</code>`).exec(page)?.[1] ?? ''
  return html.replace(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)))
}

const samples = sampleArticles().map(
  ({ title, paragraphs, language, publishedAt, outlet: { domain, country } }) => ({
    title,
    body: paragraphs.join(' '),
    language,
    country,
    publishedAt,
    outlet: { name: domain, domain },
  }),
)
await api.index(samples)

t.test('the first request finds sample articles', async t => {
  const command = shown('example-request')
  t.ok(command.includes(EXAMPLE_SEARCH))
  const { stdout } = await run('sh', ['-c', `${command} --silent`], { env })
  const answer = JSON.parse(stdout)
  t.equal(answer.total_results, PAGE_EXAMPLE.total_results)
  t.ok(
    answer.articles.some(
      ({ title }: { title: string }) => title === PAGE_EXAMPLE.articles[0]?.title,
    ),
  )
  t.strictSame(Object.keys(answer.articles[0]), Object.keys(PAGE_EXAMPLE.articles[0]!))
})

t.test('the first search of the README finds sample articles', async t => {
  const readme = await readFile(new URL('../../README.md', import.meta.url), 'utf8')
  const [, typed] = /127\.0\.0\.1:8080\/(\?q=\w[^)]*)\)/.exec(readme) ?? []
  const { json } = await api.ask(secret, `/v1/articles${typed}`)
  t.ok(json.total_results > 0, typed ?? '')
})

const needs = ['curl', 'jq']
const missing = (
  await Promise.all(needs.map(program => succeeds(run(program, ['--version']))))
).indexOf(false)
const skip = missing < 0 ? false : `no ${needs[missing]} on this machine`
t.test(
  'the poll with curl as it is shown prints each article once, over several runs',
  { skip },
  async t => {
    const folder = t.testdir({ 'poll.sh': shown('example-curl') })
    const poll = async () => {
      const { stdout } = await run('sh', ['poll.sh'], { cwd: folder, env })
      return stdout.split('\n').filter(line => line !== '')
    }
    const first = await poll()
    t.strictSame(
      first.map(line => line.split('\t')[1]).sort(),
      (await api.pool.query<{ id: string }>('select id from articles')).rows
        .map(row => row.id)
        .sort(),
    )
    t.strictSame(first, [...first].sort(), 'oldest first')
    t.strictSame(await poll(), [], 'nothing is new')
    await api.index([{ title: 'Nieuw' }, { title: 'Tegelijk', publishedAt: null }])
    t.strictSame((await poll()).map(line => line.split('\t')[2]).sort(), ['Nieuw', 'Tegelijk'])
    t.strictSame(await poll(), [])
  },
)

t.test('the polls in TypeScript and Python are those of the READMEs, which are run', async t => {
  for (const [client, fence] of [
    ['typescript', 'ts'],
    ['python', 'python'],
  ] as const) {
    const poll = examplesOf(client, fence).find(code => /client\.poll\(/.test(code))
    t.equal(shown(`example-${client}`), poll?.trimEnd())
    const install = shown(`install-${client}`)
    t.ok(examplesOf(client, 'sh')[0]?.split('\n').includes(install), install)
  }
})

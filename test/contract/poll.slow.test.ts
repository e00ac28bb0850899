import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { jsonLines, type Ran, startScript } from '#test/script'
import { startTestApi } from './api.ts'

const api = await startTestApi(t)
const { secret } = await api.issue()
const folder = t.testdir()

/** Runs a script as a person would. */
function script(name: string, args: string[], killAfter?: number): Promise<Ran> {
  const { child, ended } = startScript(name, ['--url', api.base, '--key', secret, ...args], {
    NO_COLOR: '1',
  })
  const timer =
    killAfter === undefined ? undefined : setTimeout(() => child.kill('SIGKILL'), killAfter)
  return ended.finally(() => clearTimeout(timer))
}

const lines = (text: string): { id: string; title: string; ingested_at: string }[] =>
  jsonLines(text)

t.test('the contract, polling: each article once, over any number of runs', async t => {
  const place = join(folder, 'once.json')
  const run = async () =>
    lines((await script('poll', ['--place', place, '--once'])).out).map(article => article.title)
  t.strictSame(await run(), [])
  await api.index(Array.from({ length: 230 }, (_, i) => ({ title: `Artikel ${i}` })))
  const titles = Array.from({ length: 230 }, (_, i) => `Artikel ${i}`)
  t.strictSame((await run()).sort(), titles.sort())
  t.strictSame(await run(), [], 'the bound is inclusive, the place knows what it has')
  await api.index([
    { title: 'Later', publishedAt: new Date('2021-01-01') },
    { title: 'Ook later', publishedAt: null },
  ])
  t.strictSame((await run()).sort(), ['Later', 'Ook later'])
})

t.test(
  'polling: killed again and again while articles arrive, the file has each once, in order',
  async t => {
    const place = join(folder, 'killed.json')
    const file = join(folder, 'killed.ndjson')
    let writing = true
    const writer = (async () => {
      for (let batch = 0; batch < 8; batch++) {
        await api.index(
          Array.from({ length: 40 }, (_, i) => ({ title: `Partij ${batch} nummer ${i}` })),
        )
        await new Promise(resolve => setTimeout(resolve, 150))
      }
      writing = false
    })()
    let kills = 0
    while (writing) {
      await script(
        'poll',
        ['--place', place, '--out', file, '--every', '50ms'],
        350 + (kills % 5) * 90,
      )
      kills++
    }
    await writer
    const last = await script('poll', ['--place', place, '--out', file, '--once'])
    t.equal(last.code, 0)
    t.match(
      last.err,
      new RegExp(`^Wrote \\d+ new articles? to ${file}\\.\n$`),
      'it says what it wrote',
    )
    const articles = lines(await readFile(file, 'utf8'))
    t.comment(`killed ${kills} times`)
    const { rows } = await api.pool.query<{ id: string }>('select id from articles')
    t.equal(new Set(articles.map(article => article.id)).size, articles.length, 'none twice')
    t.strictSame(
      new Set(articles.map(article => article.id)),
      new Set(rows.map(row => row.id)),
      'none missing',
    )
    const isOrdered = articles.every(
      (article, i) => i === 0 || articles[i - 1]!.ingested_at <= article.ingested_at,
    )
    t.ok(isOrdered, 'in order')
  },
)
t.test('a new place appends to what the file holds', async t => {
  const place = join(folder, 'appends.json')
  const file = join(folder, 'appends.ndjson')
  const run = () => script('poll', ['--place', place, '--out', file, '--once'])
  await writeFile(file, 'mine\n')
  await run()
  const whole = await readFile(file, 'utf8')
  t.match(whole, /^mine\n\{/)
  await run()
  t.equal(await readFile(file, 'utf8'), whole, 'and keeps it')
})

t.test('the order of options names no other question', async t => {
  const place = join(folder, 'ordered.json')
  await script('poll', ['--place', place, '--once', '--language', 'nl', '--country', 'NL'])
  const { code, out, err } = await script('poll', [
    '--place',
    place,
    '--once',
    '--country',
    'NL',
    '--language',
    'nl',
  ])
  t.strictSame([code, out, err], [0, '', ''], 'all of its articles are known')
})

t.test('poll refuses what would go wrong, in one sentence', async t => {
  for (const [args, sentence] of [
    [[], /--place FILE/],
    [['--place', join(folder, 'once.json'), '--q', 'x', '--once'], /place of another question/],
    [
      ['--place', join(folder, 'x.json'), '--q', 'ab', '--search', 'semantic'],
      /keyword or boolean/,
    ],
    [['--place', join(folder, 'x.json'), '--country', 'XX'], /--country: /],
    [['--place', join(folder, 'x.json'), '--sort', 'published_at'], /--sort/],
    [['--place', join(folder, 'x.json'), '--q', 'a'.repeat(200)], /--q: /],
  ] as const) {
    const { code, err } = await script('poll', [...args])
    t.ok(code === 1 || code === 2)
    t.match(err, sentence)
    t.equal(err.trim().split('\n').length, 1)
  }
})

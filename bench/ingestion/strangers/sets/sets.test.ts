import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import type { TruePage } from '../../truth.ts'
import { fetchSets } from './fetch.ts'
import { folderOf, PUBLIC_SETS, type PublicSet, publicPages } from './sets.ts'

const setNamed = (name: string): PublicSet => {
  const set = PUBLIC_SETS.find(known => known.name === name)
  if (set === undefined) throw new Error(`no set ${name}`)
  return set
}

async function read(sets: string, name: string): Promise<TruePage[]> {
  const pages = []
  for await (const page of publicPages(sets, setNamed(name))) pages.push(page)
  return pages
}

function write(folder: string, files: Record<string, string>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), text)
  }
}

const SENTENCE = 'De brug over de rivier is dicht, en dat blijft nog een week zo. '
const PAGE = '<html><body><h1>Brug dicht</h1></body></html>'

t.test('every set is read in its own form', async t => {
  const sets = t.testdir()
  const fill = (name: string, files: Record<string, string>) => write(folderOf(sets, setNamed(name)), files)
  const entry = { url: 'https://dagkoerier.example/a', title: 'Brug dicht', articleBody: SENTENCE }
  fill('extraction', {
    'articles.json': JSON.stringify({
      a: { ...entry, date: '2026-11-03', authors: 'Jan Smit, Anna Weber' },
      b: { ...entry, date: '2026-11', authors: '' },
      absent: { ...entry, date: '2026-11-03', authors: '' },
    }),
    'html/a.html': PAGE,
    'html/b.html': PAGE,
  })
  const [a, b, ...more] = await read(sets, 'extraction')
  t.match(a, { title: 'Brug dicht', date: '2026-11-03', authors: ['Jan Smit', 'Anna Weber'], html: PAGE })
  t.match(b, { date: null, authors: null })
  t.same(more, [], 'a page without its file is left out')

  const data = join('tests', 'data')
  fill('newspaper', {
    [join(data, 'html', 'dagkoerier.example1.html')]: PAGE,
    [join(data, 'text', 'dagkoerier.example1.txt')]: SENTENCE.repeat(10),
    [join(data, 'html', 'dagkoerier.example2.html')]: PAGE,
    [join(data, 'text', 'dagkoerier.example2.txt')]: 'gallery',
  })
  t.match(await read(sets, 'newspaper'), [{ url: 'http://www.dagkoerier.example/', text: { whole: /^De brug/ } }])

  const tests = join('mcmetadata', 'test')
  fill('mediacloud', {
    [join(tests, 'test_dates.py')]: '(\n  "https://dagkoerier.example/a",\n  dt.date(2026, 11, 3),\n),',
    [join(tests, 'test_titles.py')]:
      `self._fetch_and_validate(\n  "https://dagkoerier.example/a",\n  'Jan\\'s brug',\n)`,
    [join(tests, 'fixtures', 'cached-httpsdagkoerierexamplea')]: PAGE,
  })
  t.match(await read(sets, 'mediacloud'), [{ date: '2026-11-03', title: "Jan's brug" }])

  const page = join('packages', 'metascraper', 'test', 'integration', 'dagkoerier')
  fill('metascraper', {
    [join(page, 'input.html')]: PAGE,
    [join(page, 'snapshots', 'index.js.md')]:
      "    {\n      author: 'Jan Smit and Anna Weber',\n      date: '2026-11-03T12:00:00.000Z',\n      title: 'Jan\\'s brug',\n      url: 'https://dagkoerier.example/a',\n    }",
  })
  t.match(await read(sets, 'metascraper'), [
    { title: "Jan's brug", date: '2026-11-03', authors: ['Jan Smit', 'Anna Weber'] },
  ])
})

t.test('an absent set yields no pages', async t => {
  t.same(await read(t.testdir(), 'extraction'), [])
})

t.test('a set is cloned at its commit, without the files that nobody reads', async t => {
  const [origin, sets] = [t.testdir({ origin: {}, sets: {} }), join(t.testdirName, 'sets')]
  const repository = join(origin, 'maker', 'pages')
  const git = (...words: string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b.example', '-C', repository, ...words], {
      encoding: 'utf8',
    }).trim()
  write(repository, { 'html/a.html': PAGE, 'other/b.html': PAGE })
  git('init', '--quiet')
  git('add', '.')
  git('commit', '--quiet', '-m', 'one')
  const commit = git('rev-parse', 'HEAD')
  write(repository, { 'html/later.html': PAGE })
  git('add', '.')
  git('commit', '--quiet', '-m', 'two')
  git('config', 'uploadpack.allowAnySHA1InWant', 'true')
  const set: PublicSet = { ...setNamed('extraction'), repository: 'maker/pages', commit, paths: ['html'] }
  const absent: PublicSet = { ...set, repository: 'maker/absent' }
  const signal = new AbortController().signal
  t.equal(await fetchSets(sets, signal, { origin: `file://${origin}/`, wanted: [absent, set] }), 1)
  const files = execFileSync('git', ['-C', folderOf(sets, set), 'rev-parse', 'HEAD'], { encoding: 'utf8' }).trim()
  t.equal(files, commit)
  t.same(readdirSync(folderOf(sets, set)).sort(), ['.git', 'html'])
  t.same(readdirSync(join(folderOf(sets, set), 'html')), ['a.html'])
  t.equal(await fetchSets(sets, signal, { origin: `file://${origin}/none/`, wanted: [set] }), 1, 'it is kept')
})

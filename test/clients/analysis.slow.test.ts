import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { startTestApi } from '#test/contract/api'
import { installPython, QUICK_PYTHON } from '#test/contract/python'
import { isWhole, run } from '#test/script'
import { blocksOf } from './examples.ts'

/* The steps of docs/analysis.md, from articles to a picture, as they are printed. */

const CHECKOUT = fileURLToPath(new URL('../..', import.meta.url))

const api = await startTestApi(t)
const { secret } = await api.issue()
// A checkout with a DATA_DIR of its own.
const folder = t.testdir()
for (const name of readdirSync(CHECKOUT))
  if (name !== '.data' && name !== '.git') symlinkSync(join(CHECKOUT, name), join(folder, name))
mkdirSync(join(folder, '.data'))
writeFileSync(join(folder, '.data/api.key'), secret)
const sh = (script: string) =>
  run('sh', ['-ec', script.replace('http://127.0.0.1:8080', api.base)], {
    cwd: folder,
    env: { ...process.env, ...QUICK_PYTHON, DATABASE_URL: api.config.DATABASE_URL },
  })

const [others = '', install = '', ask = ''] = blocksOf('docs/analysis.md', 'sh')
/**
 * Alone, articles are imported, and `python.slow.test.ts` runs the examples of the package.
 * `test/whole.long.test.ts` installs matplotlib and draws.
 */
const broken = isWhole
  ? await sh(install).then(
      () => null,
      (error: unknown) => error,
    )
  : null
// A small part of what the step installs: only where that cannot be had, nothing can be tried.
const tools = broken === null ? null : await installPython('cycler')
const skip = typeof tools === 'string' ? tools : false
if (typeof tools !== 'string') await tools?.remove()

/** Files as other programs write them: Media Cloud's columns, and names of one's own. */
const STORIES = `id,publish_date,title,url,language,media_name,media_url
1,2026-11-02,Sluis dicht,https://www.sluisbode.example/1,nl,De Sluisbode,https://www.sluisbode.example/
`
const ARTICLES = [{ kop: 'Sluis open', link: 'https://www.havenkrant.example/1' }]

t.test('articles are imported, searched, made a table and drawn', { skip }, async t => {
  if (broken !== null) throw broken
  const notebook: { cells: { cell_type: string; source: string[] }[] } = JSON.parse(
    readFileSync(join(CHECKOUT, 'docs/analysis.ipynb'), 'utf8'),
  )
  const cells = notebook.cells
    .filter(cell => cell.cell_type === 'code')
    .map(({ source }) => source.join(''))
  const program = `${cells.join('\n\n')}\n`
  t.equal(program, blocksOf('docs/analysis.md', 'python')[0], 'the notebook has the printed steps')
  writeFileSync(join(folder, 'stories.csv'), STORIES)
  writeFileSync(join(folder, 'articles.json'), JSON.stringify(ARTICLES))
  const imported = await sh(others)
  t.match(imported.stderr, /1 good line, 0 bad ones.*Indexed 1 article; 0 bad lines/s)
  if (!isWhole) return
  writeFileSync(join(folder, '.data/analysis/trains.py'), program)
  const { stdout } = await sh(ask)
  t.match(stdout, /Avondpost +Ochtendpost +Weekpost/)
  const numbers = stdout
    .split('\n')
    .flatMap(line => /^\d+ +(\d+) +(\d+) +(\d+)$/.exec(line)?.slice(1).map(Number) ?? [])
  const sum = numbers.reduce((sum, one) => sum + one, 0)
  t.equal(sum, 60)
  t.equal(readFileSync(join(folder, '.data/analysis/trains.png')).subarray(1, 4).toString(), 'PNG')
})

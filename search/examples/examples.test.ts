import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import t from 'tap'

const run = async (name: string) =>
  (await promisify(execFile)(process.execPath, [`${import.meta.dirname}/${name}.ts`])).stdout.split(
    '\n',
  )

t.test('ten articles are indexed and found', async t => {
  const lines = await run('ten-articles')
  t.equal(lines[0], '10 articles were indexed.')
  t.ok(lines.includes('brug: 3 found'), lines.join('\n'))
  t.ok(lines.includes('  2026-01-08 De Maas staat hoog'), 'the latest first')
})

t.test('pages show what was there at the first one, whatever others write meanwhile', async t => {
  const pages = [
    [12, 11, 10, 9, 8],
    [7, 6, 5, 4, 3],
    [2, 1],
  ].map(numbers => `${numbers.map(number => `Bericht ${number}`).join(', ')} (of 12)`)
  t.same(await run('frozen-pages'), [...pages, 'A new search finds 18.', ''])
})

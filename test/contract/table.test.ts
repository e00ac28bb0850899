import { readFile } from 'node:fs/promises'
import t from 'tap'

const page = await readFile(new URL('../../docs/contract.md', import.meta.url), 'utf8')
const read = (file: string) => readFile(new URL(`../../${file}`, import.meta.url), 'utf8')

const rows = [...page.matchAll(/^\| (\d+) \| .* \| (.+) \|$/gm)]

t.test('issue 4.7: every test that docs/contract.md names for a decision names that decision', async t => {
  t.ok(rows.length > 0)
  for (const [, number, cell] of rows) {
    const files = [...(cell ?? '').matchAll(/`([^`]+\.test\.ts)`/g)].map(match => match[1] ?? '')
    t.ok(files.length > 0, `decision ${number} has a test`)
    for (const file of files)
      t.match(await read(file), new RegExp(`decision ${number}\\b`, 'i'), `${file} names decision ${number}`)
  }
})

t.test('issue 4.7: every test file that the page names is there', async t => {
  for (const file of new Set([...page.matchAll(/`([^`]+\.test\.ts)`/g)].map(match => match[1] ?? ''))) {
    t.ok((await read(file)).length > 0, file)
  }
})

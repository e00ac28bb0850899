import { execFileSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
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

const checkout = fileURLToPath(new URL('../..', import.meta.url))

/** What git knows of this checkout, staged files too; null where it is no repository of its own. */
function tracked(): Set<string> | null {
  try {
    const git = (...args: string[]) =>
      execFileSync('git', args, { cwd: checkout, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
    if (git('rev-parse', '--show-prefix').trim() !== '') return null
    return new Set(git('ls-files').split('\n'))
  } catch {
    return null
  }
}

const known = tracked()
t.test(
  'issue 4.7: a fresh clone has every file that the page names',
  { skip: known ? false : 'no git here' },
  async t => {
    for (const file of new Set([...page.matchAll(/`([\w/.-]+\/[\w.-]+\.ts)`/g)].map(match => match[1] ?? ''))) {
      t.ok(known?.has(file), file)
    }
  },
)

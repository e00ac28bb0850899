import t from 'tap'
import { filesOf, read } from './checkout.ts'

/* The commands of package.json stand in a table of the pages where people look for them. */

const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> }

const rows = ['README.md', 'docs/commands.md', 'CONTRIBUTING.md'].flatMap(file =>
  read(file)
    .split('\n')
    .filter(line => line.startsWith('|')),
)
/** The first cells name commands: `npm start`, `npm run -s export > FILE`. */
const listed = new Set(
  rows
    .flatMap(row => [...(row.split(' | ')[0] ?? '').matchAll(/\bnpm (?:run )?(?:-s )?([a-z][a-z:-]*)/g)])
    .map(([, name]) => name),
)

t.test('every command of package.json is in a table of README.md, docs/commands.md or CONTRIBUTING.md', async t => {
  const unlisted = Object.keys(scripts).filter(name => !listed.has(name))
  t.strictSame(unlisted, [])
})

t.test('every program in scripts/ is a command of package.json, or part of one', async t => {
  const programs = filesOf().filter(file => /^scripts\/[\w-]+\.(ts|mjs)$/.test(file))
  const run = new Set(Object.values(scripts).flatMap(command => command.replaceAll(' ./', ' ').split(' ')))
  // `bootstrap.mjs` is imported by `npm start` and `npm test`.
  const unknown = programs.filter(file => !run.has(file) && file !== 'scripts/bootstrap.mjs')
  t.ok(programs.length > 20)
  t.strictSame(unknown, [])
})

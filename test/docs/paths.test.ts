import { posix } from 'node:path'
import t from 'tap'
import { SETTINGS } from '#shared/config/settings'
import {
  commentLines,
  comments,
  documents,
  filesOf,
  programs,
  read,
  withoutComments,
} from './checkout.ts'

/*
 * Documents and comments name only files, folders, npm scripts, settings and columns that exist.
 * Dated experiments tell of former versions and are left out.
 */

const files = filesOf()
const folders = new Set(
  files.flatMap(file => file.split('/').map((_, index, parts) => parts.slice(0, index).join('/'))),
)
const guides = documents().filter(file => !file.startsWith('docs/experiments/'))

/** Text to look at, by file; without links to the pages of others. */
const texts = new Map([
  ...guides.map(file => [file, read(file).replace(/\[[^\]]*\]\(https?:[^)]*\)/g, '')] as const),
  // An applied migration is never edited, so its comments name the files of its time.
  ...programs()
    .filter(file => !file.startsWith('infra/migrations/'))
    .map(file => [file, comments(file)] as const),
])

/** Where these texts hold a name that `isDead`. */
function dead(pattern: RegExp, isDead: (name: string, file: string) => boolean): string[] {
  return [...texts].flatMap(([file, text]) =>
    [...text.matchAll(pattern)].flatMap(([, name = '']) =>
      isDead(name, file) ? [`${file} names ${name}`] : [],
    ),
  )
}

const exists = (path: string) => files.includes(path) || folders.has(path.replace(/\/$/, ''))
/** Stands for any name. */
const isPlaceholder = (path: string) => /\b(NAME|FILE|PATH|PART)\b/.test(path)
/** Settings of Node and tap, and a file beside the test data. */
const OF_OTHERS = new Set([
  'UV_THREADPOOL_SIZE',
  'OPENSEARCH_JAVA_OPTS',
  'TAP_GREP',
  'TAP_TIMEOUT',
  'INDEX.md',
])
const TOP = 'search|services|shared|scripts|infra|bench|test|docs'

const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> }

t.test('paths from the root of the checkout', async t => {
  // Not inside of an address or a longer path; not where a placeholder follows.
  const pattern = new RegExp(`(?<![\\w./…#-])((?:${TOP})/[\\w./@-]*[\\w/])(?![\\w*<{…[])`, 'g')
  t.strictSame(
    dead(pattern, name => !exists(name) && !isPlaceholder(name)),
    [],
  )
})

t.test('names of imports', async t => {
  const pattern = new RegExp(`#((?:${TOP})/[\\w./-]*\\w)`, 'g')
  t.strictSame(
    dead(pattern, name => !exists(`${name}.ts`)),
    [],
  )
})

t.test('names of our files, with or without folders before them', async t => {
  const pattern = /(?<![\w./…:-])((?:[\w-]+\/)*[\w-]+(?:\.[\w-]+)*\.(?:ts|mjs|sql|md|py))\b/g
  t.strictSame(
    dead(
      pattern,
      name =>
        !OF_OTHERS.has(name) && !files.some(file => file === name || file.endsWith(`/${name}`)),
    ),
    [],
  )
})

t.test('documents that messages and tests name', async t => {
  for (const file of programs())
    for (const [, name = ''] of read(file).matchAll(/(?<![\w./…-])(docs\/[\w/-]+\.md)\b/g))
      if (!exists(name)) t.fail(`${file} names ${name}`)
  t.ok(guides.length > 0)
})

t.test('links of documents', async t => {
  t.strictSame(
    dead(
      /\]\((?!https?:|mailto:|#)([^)#\s]+)(?:#[^)]*)?\)/g,
      (name, file) => !exists(posix.join(posix.dirname(file), name)),
    ),
    [],
  )
})

t.test('links to a heading', async t => {
  // As GitHub makes them.
  const anchorsOf = (text: string) =>
    new Set(
      [...text.replace(/^```.*?^```/gms, '').matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
        heading
          .toLowerCase()
          .replace(/[^\p{L}\p{N}_ -]/gu, '')
          .replaceAll(' ', '-'),
      ),
    )
  t.strictSame(
    guides.flatMap(file =>
      [...read(file).matchAll(/\]\((?!https?:|mailto:)([^)#\s]*)#([^)\s]+)\)/g)].flatMap(
        ([link, name, anchor = '']) => {
          const target = name ? posix.join(posix.dirname(file), name) : file
          return target.endsWith('.md') && !anchorsOf(read(target)).has(anchor)
            ? [`${file} links to ${link}`]
            : []
        },
      ),
    ),
    [],
  )
})

t.test('npm scripts, in messages too', async t => {
  for (const file of [...guides, ...programs()])
    for (const [, name = ''] of read(file).matchAll(/\bnpm run (?:-s |--silent )?([a-z][a-z:-]*)/g))
      if (!(name in scripts)) t.fail(`${file} names npm run ${name}`)
  t.ok(Object.keys(scripts).length > 0)
})

t.test('settings and constants', async t => {
  const pattern = /(?<![\w.])([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)\b/g
  const namesIn = (text: string) => [...text.matchAll(pattern)].map(([, name = '']) => name)
  const code = files.filter(file => /\.(ts|mjs|py|sql|ya?ml|json)$|Procfile|Dockerfile/.test(file))
  const known = new Set(code.flatMap(file => namesIn(withoutComments(file))))
  // A secret or an address may stand in a file.
  for (const [name, { type }] of Object.entries(SETTINGS)) {
    if (type === 'secret' || type === 'url') known.add(`${name}_FILE`)
  }
  const prefixes = new Set(Object.keys(SETTINGS).map(name => name.split('_')[0]))
  // Comments and examples may name constants of others, but none that looks like a setting of ours.
  const isOurs = (name: string, file: string) =>
    prefixes.has(name.split('_')[0]) || (file.endsWith('.md') && read(file).includes(`\`${name}`))
  const unknown = dead(
    pattern,
    (name, file) => isOurs(name, file) && !known.has(name) && !OF_OTHERS.has(name),
  )
  t.strictSame(unknown, [])
})

t.test('tables and their columns', async t => {
  const sql = files
    .filter(file => file.startsWith('infra/migrations/'))
    .map(withoutComments)
    .join('\n')
  const tables = new Set(
    [...sql.matchAll(/create (?:unlogged )?table (?:if not exists )?(\w+)/g)].map(
      ([, name]) => name,
    ),
  )
  t.strictSame(
    dead(/`(\w+\.\w+)`/g, name => {
      const [table, column] = name.split('.')
      return (
        tables.has(table) &&
        !/^(ts|md|sql)$/.test(column ?? '') &&
        !new RegExp(`\\b${column}\\b`).test(sql)
      )
    }),
    [],
  )
})

t.test('docs/schema.md has every table and index', async t => {
  const page = read('docs/schema.md')
  const migrations = files.filter(name => /^infra\/migrations\/.*\.sql$/.test(name))
  const dropped = migrations.flatMap(file =>
    [...read(file).matchAll(/^\s*drop index (\w+);/gm)].map(([, name]) => name),
  )
  for (const file of migrations) {
    const statement =
      /^\s*create (?:unique |unlogged )?(?:table|index|function) (?:concurrently )?(?:if not exists )?(\w+)/gm
    for (const [, name] of read(file).matchAll(statement))
      if (!dropped.includes(name) && !page.includes(`\`${name}\``))
        t.fail(`${file} makes ${name}, of which docs/schema.md says nothing`)
  }
  // Tables are also made by the program that migrates, and partitions while the system runs.
  const makers = files
    .filter(file => /^(infra|shared)\/migrations\/.*\.(sql|ts)$/.test(file))
    .map(withoutComments)
  for (const [heading] of page.matchAll(/^### .*$/gm))
    for (const [, name = ''] of heading.matchAll(/`(\w+)`/g))
      t.ok(
        makers.join('\n').match(`table (if not exists )?${name.replace(/_p\d+$/, '')}\\b`) ||
          /^(bullmq|pgboss)$/.test(name),
        name,
      )
})

/* The commands of package.json stand in a table of the pages where people look for them. */

const rows = ['README.md', 'docs/commands.md', 'CONTRIBUTING.md'].flatMap(file =>
  read(file)
    .split('\n')
    .filter(line => line.startsWith('|')),
)
/** The first cells name commands: `npm start`, `npm run -s export > FILE`. */
const listed = new Set(
  rows
    .flatMap(row => [
      ...(row.split(' | ')[0] ?? '').matchAll(/\bnpm (?:run )?(?:-s )?([a-z][a-z:-]*)/g),
    ])
    .map(([, name]) => name),
)

t.test(
  'every command of package.json is in a table of README.md, docs/commands.md or CONTRIBUTING.md',
  async t => {
    const unlisted = Object.keys(scripts).filter(name => !listed.has(name))
    t.strictSame(unlisted, [])
  },
)

t.test('every program in scripts/ is a command of package.json, or part of one', async t => {
  const programs = filesOf().filter(file => /^scripts\/[\w-]+\.(ts|mjs)$/.test(file))
  const run = new Set(
    Object.values(scripts).flatMap(command => command.replaceAll(' ./', ' ').split(' ')),
  )
  // `bootstrap.mjs` is imported by `npm start` and `npm test`.
  const unknown = programs.filter(file => !run.has(file) && file !== 'scripts/bootstrap.mjs')
  t.ok(programs.length > 20)
  t.strictSame(unknown, [])
})

const COLUMNS = 100

t.test(`comments wrap at ${COLUMNS} columns`, async t => {
  t.ok(programs().length > 500)
  for (const file of programs().filter(name =>
    /^(bench|scripts|search|services|shared|test|web)\//.test(name),
  )) {
    for (const { number, text } of commentLines(file)) {
      // A line with an address may be longer.
      if (text.length > COLUMNS && !/:\/\/|\S{60}/.test(text))
        t.fail(`${file}:${number} is ${text.length} columns wide`)
    }
  }
})

import { dirname } from 'node:path'
import t from 'tap'
import { filesOf, read } from '#test/docs/checkout'
import ENTRIES from './entries.json' with { type: 'json' }
import { cyclesOf, readImports } from './imports.ts'

const { files, imports } = readImports()

/** The part of the house that a file belongs to: a service, or a folder of the top level. */
const partOf = (file: string) => /^services\/[^/]+|^[^/]+/.exec(file)![0]
const isTest = (file: string) => file.endsWith('.test.ts')

const crossing = imports.filter(({ from, to }) => partOf(from) !== partOf(to))
const named = (some: typeof imports) => some.map(({ from, to }) => `${from} imports ${to}`)

t.test('there is something to look at', async t => {
  t.ok(
    files.length > 500 && imports.length > 2_000,
    `${files.length} files, ${imports.length} imports`,
  )
  t.same(
    cyclesOf([
      ['a', 'b'],
      ['b', 'c'],
      ['c', 'a'],
      ['c', 'd'],
    ]),
    [['a', 'b', 'c']],
  )
})

t.test('every import leads to a file', async t => {
  const known = new Set(files)
  t.same(named(imports.filter(({ to }) => /\.(tsx?|mjs)$/.test(to) && !known.has(to))), [])
})

t.test('the search engine stands alone: it imports nothing of the house', async t => {
  const others = crossing.filter(({ from }) => partOf(from) === 'search' && !isTest(from))
  t.same(named(others), [])
})

t.test('the search engine is used through its entries', async t => {
  const inwards = crossing.filter(({ to }) => partOf(to) === 'search')
  t.same(named(inwards.filter(({ to }) => !ENTRIES.engine.includes(to))), [])
  // Its types stand in one file, which those who search also have from their entry.
  const ofTypes = /^search\/(types|index|browser|archive\/.*)\.ts$/
  t.same(named(inwards.filter(({ to, typeOnly }) => typeOnly && !ofTypes.test(to))), [])
})

t.test(
  'pages import pure parts alone: how queries are read, and what the contract fixes',
  async t => {
    const mayImport = ({ to }: (typeof imports)[number]) => ENTRIES.pages.includes(to)
    const others = crossing.filter(
      one => partOf(one.from) === 'web' && !isTest(one.from) && !mayImport(one),
    )
    t.same(named(others), [])
    t.same(
      named(crossing.filter(({ from, to }) => partOf(to) === 'web' && partOf(from) !== 'test')),
      [],
    )
  },
)

t.test('what pages import, directly or by way of others, uses nothing of Node', async t => {
  const reached = new Set(files.filter(file => partOf(file) === 'web' && !isTest(file)))
  for (const file of reached) {
    for (const { from, to, typeOnly } of imports) {
      if (from === file && !typeOnly && /\.tsx?$/.test(to)) reached.add(to)
    }
  }
  t.ok(reached.has('search/analysis/tokens.ts'))
  const uses = [...reached].filter(file => /\bBuffer\b|^import .*'node:/m.test(read(file)))
  t.same(uses, [])
})

t.test('the search engine knows nothing of its archive, which knows the engine', async t => {
  const isArchive = (file: string) => file.startsWith('search/archive/')
  const inwards = imports.filter(
    ({ from, to }) => partOf(from) === 'search' && isArchive(to) && !isArchive(from),
  )
  t.same(named(inwards), [])
  const naming = files.filter(file => /^search\//.test(file) && !isArchive(file) && !isTest(file))
  const wrong = naming.filter(file => /archive_indices|opensearch/i.test(read(file)))
  t.same(wrong, [])
})

t.test(
  'only the store of the search engine, and what releases segments, has SQL on its segment tables',
  async t => {
    const tables =
      /\b(from|join|into|update)\s+(segments|segments_ahead|segment_buckets|segments_version)\b/
    const outside = files.filter(
      file =>
        !/^search\/(store\/|archive\/state\.ts)/.test(file) &&
        !/^(test|bench)\/|\.test\.ts$/.test(file) &&
        tables.test(read(file)),
    )
    t.same(outside, [])
  },
)

/** Files that run on this machine's Node: neither packages for others nor pages for browsers. */
const ofNode = files.filter(file => !/^(clients|web|test|bench)\/|\.test\.ts$/.test(file))

t.test('one file says which articles a plan covers, in code and in SQL', async t => {
  const covers = /coalesce\((?:\w+\.)?published_at, (?:\w+\.)?ingested_at|history\.days \*/
  const saying = ofNode.filter(
    file => /^(services|shared|status|scripts)\//.test(file) && covers.test(read(file)),
  )
  t.same(saying, [
    'shared/copies/pass.ts', // the time of an article, whatever a plan covers
    'shared/plans/reach.ts',
  ])
})

t.test("no file calls Node's own fetch: a server that closes early ends its process", async t => {
  const calls = ofNode.filter(file =>
    /(?<![\w.])fetch\(/.test(read(file).replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, '')),
  )
  const own =
    /\b(import|const) \{[^}]*\bfetch\b[^}]*\} (from |= await import\()'undici'|\bfetch: \(/
  t.ok(calls.length > 4)
  const wrong = calls.filter(file => !own.test(read(file)))
  t.same(wrong, [])
})

t.test(
  'only types are imported from node:http: what it does comes from shared/process/http',
  async t => {
    const loading = /^import (?!type\b)[\w{},*\s]+ from 'node:http'/m
    t.match("import { createServer, type Server } from 'node:http'", loading)
    t.same(
      ofNode.filter(file => loading.test(read(file))),
      [],
    )
  },
)

/** What emits `error`, and ends the process when nobody listens; and what listens. */
const EMITTERS =
  /\b(spawn|createServer|cluster\.fork)\(|\bnew (Worker|PgBoss|Piscina|Redis|Queue|pg\.Client|pg\.Pool|onPostgres\.Queue|Patient\w*Worker)\b/
const LISTENERS = /\.(on|once)\('error'|\bonce\(\w+, '/

t.test('somebody listens to the errors of every process, thread, server and client', async t => {
  const count = (file: string, pattern: RegExp) =>
    read(file)
      .split('\n')
      .filter(line => pattern.test(line)).length
  const emitting = ofNode.filter(file => count(file, EMITTERS) > 0)
  t.ok(emitting.length > 12, `${emitting.length} files`)
  const deaf = emitting.filter(file => count(file, LISTENERS) < count(file, EMITTERS))
  t.same(deaf, [])
  const raw = ofNode.filter(file => /\bnew pg\.(Client|Pool)\(/.test(read(file)))
  // The engine's examples have a pool of their own.
  const pools = ['search/examples/segment-thread.ts', 'shared/postgres/pool.ts']
  t.same(raw, pools, 'connections to Postgres hear their own errors')
  t.match(read('shared/postgres/pool.ts'), /new pg\.Pool\(\{\s*Client: HeardClient/)
})

t.test('nothing that runs elsewhere than in a checkout imports tests or benches', async t => {
  const known = /^(test|bench|search\/examples)/
  const inwards = imports.filter(
    ({ from, to }) => /^(test|bench)\//.test(to) && !known.test(from) && !isTest(from),
  )
  t.same(named(inwards), [])
})

t.test('no service imports another', async t => {
  const between = crossing.filter(
    ({ from, to }) => from.startsWith('services/') && to.startsWith('services/'),
  )
  t.same(named(between), [])
})

t.test(
  'shared code, and what reads the state of the system, import shared code and the engine alone',
  async t => {
    const upwards = crossing.filter(
      ({ from, to }) =>
        !isTest(from) && /^(shared|status)$/.test(partOf(from)) && !/^(shared|search)\//.test(to),
    )
    t.same(named(upwards), [])
  },
)

t.test('no file imports itself by way of others, by types neither', async t => {
  t.same(cyclesOf(imports.map(({ from, to }) => [from, to])), [])
})

t.test('no folder imports itself by way of others', async t => {
  // A file beside subfolders stands for itself: some are entries, others are used by all
  // subfolders.
  const parents = new Set(files.map(file => dirname(dirname(file))))
  const nodeOf = (file: string) => (parents.has(dirname(file)) ? file : dirname(file))
  const values = imports.filter(
    ({ from, typeOnly }) => !typeOnly && !isTest(from) && !/^(test|bench)\//.test(from),
  )
  t.same(cyclesOf(values.map(({ from, to }) => [nodeOf(from), nodeOf(to)])), [])
})

t.test('no two migrations have one number', async t => {
  const numbers = filesOf().flatMap(
    file => /^infra\/migrations\/(\d{4})_\w+\.sql$/.exec(file)?.[1] ?? [],
  )
  t.ok(numbers.length > 8)
  t.same(numbers, [...new Set(numbers)])
})

t.test('no file imports a command: its import would run it', async t => {
  const commands = new Set(files.filter(file => /^await (run|runCommand)\(/m.test(read(file))))
  t.ok(commands.has('scripts/start/main.ts') && commands.size > 20, `${commands.size} commands`)
  // A launcher stands in front of a command with the same name.
  const launchers = new Set(['scripts/start.mjs', 'scripts/test.mjs'])
  t.same(
    named(imports.filter(one => commands.has(one.to) && !one.typeOnly && !launchers.has(one.from))),
    [],
  )
})

t.test('a command has what it uses before it runs: what follows does not exist yet', async t => {
  const late = files.filter(file =>
    /^await (run|runCommand)\(.*^(const|let|class) /ms.test(read(file)),
  )
  t.same(late, [])
})

/*
 * What no other file uses is not exported, so that the compiler names it when its own file no
 * longer uses it either. Types are left out: they name what functions take and return.
 */

const EXPORTED = /^export (?:async )?(?:const|let|function\*?|class) (\w+)/gm

/** Names that are imported from a file; null: nobody can tell. */
const imported = new Map<string, Set<string> | null>()
for (const { to, names } of imports) {
  const known = imported.get(to)
  if (names === null || known === null) imported.set(to, null)
  else imported.set(to, new Set([...(known ?? []), ...names]))
}

/** `bench/main.ts` calls it by the name of its folder. */
const isBench = (file: string, name: string) =>
  /^bench\/[^/]+\/main\.ts$/.test(file) && name === 'run'

t.test('every exported function and constant is imported by another file', async t => {
  const exported = files.flatMap(file =>
    [...read(file).matchAll(EXPORTED)].map(([, name = '']) => [file, name] as const),
  )
  const unused = exported.filter(([file, name]) => {
    const names = imported.get(file) ?? (imported.has(file) ? null : new Set<string>())
    return names !== null && !names.has(name) && !isBench(file, name)
  })
  t.ok(exported.length > 1_000, `${exported.length} exports`)
  const wrong = unused.map(([file, name]) => `${file} exports ${name}`)
  t.same(wrong, [])
})

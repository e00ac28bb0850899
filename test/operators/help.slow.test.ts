import { readFile } from 'node:fs/promises'
import t from 'tap'
import { EXPLORE_PARAMETERS } from '#services/api/contract/parameters'
import { run } from '#test/script'

/** The commands of package.json: name, and arguments of Node. */
async function commands(): Promise<[string, string[]][]> {
  const { scripts } = JSON.parse(await readFile('package.json', 'utf8')) as {
    scripts: Record<string, string>
  }
  return Object.entries(scripts).flatMap(([name, command]) => {
    const words = /^exec (?:.* )?node (.*\.(?:ts|mjs))$/.exec(command)?.[1]
    return words === undefined ? [] : [[name, words.split(' ')] as [string, string[]]]
  })
}

/** Parameters of the API that a command takes as options stand in its usage as one word. */
const PARAMETERS = new Set(Object.keys(EXPLORE_PARAMETERS).map(name => name.replaceAll('_', '-')))

/** The options that `--help` lists and that no usage line shows. */
function optionsWithoutUsage(help: string): string[] {
  const usage = /^Usage: .*(?:\n {7}.*)*/m.exec(help)?.[0] ?? ''
  const options = [...help.matchAll(/^ {2}--([a-z-]+)/gm)].map(([, name = '']) => name)
  const isShown = (name: string) =>
    new RegExp(`--${name}(?![a-z-])`).test(usage) ||
    (usage.includes('[PARAMETERS]') && PARAMETERS.has(name))
  return options.filter(name => name !== 'help' && !isShown(name))
}

/** Writes the help of several files in one process, each after a form feed. */
const ALL = `
for (const one of [process, process.stdout, process.stderr]) one.setMaxListeners(0)
for (const file of process.argv.slice(1)) {
  process.argv = ['node', file, '--help']
  process.stdout.write('\\f')
  await import(process.cwd() + '/' + file)
}`

t.test('every command explains itself, whatever its settings', async t => {
  const all = await commands()
  t.ok(all.length > 20)
  // Commands with the same options of Node share a process. Others end theirs, or start one.
  const processes = Map.groupBy(all, ([, words]) =>
    words.at(-1)!.startsWith('scripts/') && !words.at(-1)!.endsWith('.mjs')
      ? words.slice(0, -1).join(' ')
      : words.join(' '),
  )
  for (const commands of processes.values()) {
    const [, words] = commands[0]!
    const files = commands.map(([, words]) => words.at(-1)!)
    const started =
      files.length === 1
        ? [...words, '--help']
        : [...words.slice(0, -1), '--input-type=module', '-e', ALL, ...files]
    const { stdout, stderr } = await run(process.execPath, started, {
      env: { PATH: process.env.PATH },
    })
    t.equal(stderr, '', files.join(' '))
    const helps = files.length === 1 ? [stdout] : stdout.split('\f').slice(1)
    for (const [at, [name]] of commands.entries()) {
      const help = helps[at] ?? ''
      t.match(help, new RegExp(`Usage: npm (?:run )?${name}\\b`), name)
      for (const line of help.split('\n')) t.ok(line.length <= 120, `${name}: ${line}`)
      t.strictSame(optionsWithoutUsage(help), [], `${name}: its usage shows every option`)
    }
  }
})

t.test('a service that is given an argument says that it takes none', async t => {
  await t.rejects(run(process.execPath, ['services/crawler/main.ts', '--port=1']), {
    code: 2,
    stderr: /^crawler: "--port=1" is not understood; see --help\.\n$/,
  })
})

const REFUSED: [name: string, words: string[], sentence: string][] = [
  ['copies', ['7'], '"7" is one word too many; options stand after "--"'],
  ['servers', ['FILE'], '"FILE" is one word too many'],
  ['queues', ['drain', 'embed', 'normalise'], '"normalise" is one word too many'],
  ['reindex', ['--archive', '--copies'], '--archive and --copies do not go together'],
]

t.test('words and options that a command would not heed are refused', async t => {
  const env = { PATH: process.env.PATH, DATABASE_URL: 'postgres://127.0.0.1:1/none' }
  for (const [name, words, sentence] of REFUSED)
    await t.rejects(run(process.execPath, [`scripts/${name}.ts`, ...words], { env }), {
      code: 2,
      stderr: `${name}: ${sentence}`,
    })
})

t.test('a command says that the disk of its output is full', async t => {
  await t.rejects(
    run('sh', ['-c', `exec ${process.execPath} scripts/keys.ts --help > /dev/full`]),
    { code: 1, stderr: /^keys: The disk is full \(ENOSPC/ },
  )
})

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

t.test('every command explains itself, whatever its settings', async t => {
  const all = await commands()
  t.ok(all.length > 20)
  for (const [name, words] of all) {
    const { stdout, stderr } = await run(process.execPath, [...words, '--help'], {
      env: { PATH: process.env.PATH },
    })
    t.match(stdout, new RegExp(`Usage: npm (?:run )?${name}\\b`), name)
    t.equal(stderr, '', name)
    for (const line of stdout.split('\n')) t.ok(line.length <= 120, `${name}: ${line}`)
    t.strictSame(optionsWithoutUsage(stdout), [], `${name}: its usage shows every option`)
  }
})

t.test('a service that is given an argument says that it takes none', async t => {
  await t.rejects(run(process.execPath, ['services/crawler/main.ts', '--port=1']), {
    code: 2,
    stderr: /^crawler: "--port=1" is not understood; see --help\.\n$/,
  })
})

t.test('a command says that the disk of its output is full', async t => {
  await t.rejects(
    run('sh', ['-c', `exec ${process.execPath} scripts/keys.ts --help > /dev/full`]),
    { code: 1, stderr: /^keys: The disk is full \(ENOSPC/ },
  )
})

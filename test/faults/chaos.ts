import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createFamily } from '#infra/embedded/supervision/family'
import { createPool, type Pool } from '#shared/postgres/pool'
import { makeKey, runScript, type ServiceName, syncCatalogue, until } from '#test/fleet'
import { createFindings, createOutages, RECOVERY_MS } from './findings.ts'
import type { Scene } from './injection/faults.ts'
import { type DoneFault, injectFaults, type KindName, planFaults } from './injection/plan.ts'
import { HOST_DELAY_MS, type Machine, startMachine } from './machine/machine.ts'
import { catchUp, drain, type Progress, readProgress } from './progress.ts'
import { createRandom } from './random.ts'
import { createClient } from './readers/client.ts'
import { type Reading, startReaders } from './readers/readers.ts'
import { type Site, startSite } from './site/site.ts'
import { writeImport } from './site/site-article.ts'
import { judge } from './verdict/judge.ts'

export interface ChaosOptions {
  seconds: number
  seed: number
  /** The work queues are on a Redis of the run's own. */
  redis: boolean
  /** Articles a second. */
  rate: number
  /** Articles that are there before the site begins; not embedded during the run. */
  imported: number
  /** Kinds of faults; empty: all. */
  only: readonly KindName[]
  /** The folder stays although nothing was found. */
  keep: boolean
  signal: AbortSignal
  say(sentence: string): void
}

export interface Verdict {
  /** The articles that each poller received. */
  polled: { [k: string]: number }
  sequences: number
  requests: { asked: number; forgiven: number; again: number; failed: number; slowest: number }
  faults: DoneFault[]
  /** The broken promises, as sentences; empty when none was broken. */
  findings: string[]
  /** Logs and data of the run; removed when nothing was found. */
  folder: string
  indexed: number
  embedded: number
  ok: boolean
  seed: number
  seconds: number
  queues: string
  published: number
}

const FLEET: readonly [ServiceName, number][] = [
  ['crawler', 2],
  ['normaliser', 2],
  ['embedder', 1],
  ['api', 2],
]
const PROGRESS_MS = 5_000

/**
 * Runs the whole fleet against a site that keeps publishing, does it every harm there is, and tells
 * afterwards what was lost, doubled, missed, thawed or refused. Everything it starts has ended when
 * it resolves.
 */
export async function chaos(options: ChaosOptions): Promise<Verdict> {
  const { seed, say } = options
  const folder = await mkdtemp(join(tmpdir(), 'perscope-chaos-'))
  // The database may run as another user.
  await chmod(folder, 0o755)
  const family = await createFamily(folder)
  const cleanUp: (() => Promise<unknown>)[] = [async () => family.disband()]
  try {
    const site = await startSite(seed, HOST_DELAY_MS)
    cleanUp.push(() => site.close())
    const machine = await startMachine(folder, family, options.redis)
    cleanUp.push(() => machine.stop())
    const pool = createPool(machine.env.DATABASE_URL ?? '', 'chaos', () => {}, { max: 2 })
    cleanUp.push(() => pool.end())
    const verdict = await run(options, folder, site, machine, pool)
    await writeFile(join(folder, 'verdict.json'), JSON.stringify(verdict, null, 2))
    if (verdict.ok && !options.keep)
      cleanUp.unshift(() => rm(folder, { recursive: true, force: true }))
    return verdict
  } finally {
    for (const step of cleanUp.reverse()) await step().catch((error: Error) => say(error.message))
  }
}

async function run(
  options: ChaosOptions,
  folder: string,
  site: Site,
  machine: Machine,
  pool: Pool,
): Promise<Verdict> {
  const { seed, seconds, say, signal } = options
  const outages = createOutages()
  const findings = createFindings(sentence => say(`  ! ${sentence}`))
  const scene: Scene = { machine, outages, findings, random: createRandom(seed, 'scene') }
  const client = createClient(
    machine.apis,
    await prepare(options, machine, folder, site),
    outages,
    findings,
  )
  for (const [service, count] of FLEET) {
    for (let number = 0; number < count; number++) await machine.start(service, number)
  }
  for (const index of machine.apis.keys()) {
    await until(
      () => machine.answers.api(index),
      60_000,
      `api-${index} does not start; see ${folder}/logs.`,
    )
  }
  say(
    `The fleet is up; faults of seed ${seed} for ${seconds} s. Everything of this run is in ${folder}.`,
  )

  const began = Date.now()
  site.publish(options.rate)
  const readers = startReaders({ seed, client, apis: machine.apis.length, findings })
  const teller = setInterval(() => void tell(), PROGRESS_MS)
  const tell = async () => say(progressLine(began, site, await readProgress(pool), readers))
  const plan = planFaults(createRandom(seed, 'plan'), seconds * 1000, options.redis, options.only)
  const injection = injectFaults(plan, scene, signal, ({ at, kind, detail, lasted }) =>
    say(`  ${at.toFixed(1)} s: ${kind}${detail ? `, ${detail}` : ''}; ${lasted.toFixed(1)} s`),
  )
  await sleep(seconds * 1000, undefined, { signal }).catch(() => {})
  site.rest()
  const faults = await injection
  say(
    `${site.articles.length} articles were published and ${faults.length} faults injected; waiting until all is done.`,
  )
  // So long the readers ask on, now that nothing may fail any more.
  await sleep(RECOVERY_MS + PROGRESS_MS, undefined, { signal }).catch(() => {})
  await readers.rest()
  if (signal.aborted) findings.add('The run was broken off by a signal.')
  else if (!(await drain(pool, site.articles.length, options.imported, signal)))
    findings.add('Not everything was done when nothing moved any more.')
  await catchUp(readers.pollers, pool)
  await readers.stop()
  clearInterval(teller)
  const held = await judge({
    site,
    machine,
    pool,
    outages,
    findings,
    reading: readers,
    imported: options.imported,
  })
  const sentences = findings.sentences()
  return {
    ok: sentences.length === 0 && !signal.aborted,
    seed,
    seconds,
    queues: options.redis ? 'redis' : 'postgres',
    published: site.articles.length,
    ...held,
    polled: Object.fromEntries(readers.pollers.map(({ name, seen }) => [name, seen.size])),
    sequences: readers.sequences.length,
    requests: client.counts,
    faults,
    findings: sentences,
    folder,
  }
}

/** Makes the database, the catalogue, the imported articles and a key; returns the key. */
async function prepare(
  { seed, imported }: ChaosOptions,
  machine: Machine,
  folder: string,
  site: Site,
): Promise<string> {
  await runScript(machine.env, 'migrate')
  await syncCatalogue(machine.env, site.catalogue)
  if (imported > 0) {
    const file = join(folder, 'articles.ndjson')
    await writeFile(file, writeImport(seed, imported))
    // Its hour comes after the run: the model has enough to do with what is new.
    await runScript({ ...machine.env, EMBED_DELAY: '30d' }, 'import', file)
  }
  return (await makeKey(machine.env, 'chaos')).key
}

function progressLine(
  began: number,
  site: Site,
  progress: Progress | null,
  readers: Reading,
): string {
  const seconds = Math.round((Date.now() - began) / 1000)
  const clock = `${String(Math.floor(seconds / 60)).padStart(2, '0')}:${String(seconds % 60).padStart(2, '0')}`
  const held = progress
    ? `indexed ${progress.articles}, embedded ${progress.embedded}, open ${progress.open}`
    : 'Postgres is away'
  const polled = readers.pollers.map(({ seen }) => seen.size).join('/')
  return `${clock} published ${site.articles.length}, ${held}, polled ${polled}, sequences ${readers.sequences.length}`
}

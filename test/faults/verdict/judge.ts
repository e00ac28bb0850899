import { setTimeout as sleep } from 'node:timers/promises'
import type { Pool } from '#shared/postgres/pool'
import type { Findings, Outages, Part } from '#test/faults/findings'
import type { Machine, Worker } from '#test/faults/machine/machine'
import type { End } from '#test/faults/machine/member'
import type { Reading } from '#test/faults/readers/readers'
import type { Site } from '#test/faults/site/site'
import { runScript } from '#test/fleet'
import {
  checkArticles,
  checkEmbeddings,
  checkOrder,
  checkPoller,
  checkSequence,
  storyOf,
} from './checks.ts'
import { readHoldings, type Status } from './holdings.ts'

export interface Evidence {
  site: Site
  machine: Pick<Machine, 'env' | 'workers'>
  pool: Pool
  outages: Outages
  findings: Findings
  reading: Reading
  /** How many articles were there before. */
  imported: number
}

/** Between two polls the queues are empty; the look at them must fall there. */
const LOOKS = 20

/** Compares what was published and read with what is there. What is wrong goes to `findings`. */
export async function judge(evidence: Evidence): Promise<{ indexed: number; embedded: number }> {
  const { site, machine, pool, outages, findings, reading, imported } = evidence
  const holdings = await readHoldings(machine.env, pool)
  await checkArticles(site, imported, holdings, article => storyOf(article, site, pool), findings)
  checkOrder(holdings, findings)
  checkEmbeddings(holdings, findings)
  for (const poller of reading.pollers) {
    const { country } = poller
    checkPoller(
      poller,
      article => country === null || article.country === country,
      holdings,
      findings,
    )
  }
  for (const sequence of reading.sequences) checkSequence(sequence, holdings, findings)
  checkEnds(machine, outages, findings)
  for (const difference of await differencesOf(machine)) findings.add(difference)
  for (const breach of site.breaches()) findings.add(`Rude: ${breach}`)
  const busy = await busyQueues(machine)
  if (busy) findings.add(`Nothing is to be done, and the queues are never empty: ${busy}.`)
  return {
    indexed: holdings.exported.length,
    embedded: holdings.embeddings.filter(({ embedded_at }) => embedded_at).length,
  }
}

/** What `npm run verify` finds in the index, its vectors and feeds. */
async function differencesOf(machine: Pick<Machine, 'env'>): Promise<string[]> {
  const ended = await runScript(machine.env, 'verify', '--json').catch(
    (error: { stdout?: string }) => error.stdout,
  )
  if (!ended) return ['"npm run verify" ended without a result.']
  const {
    differences,
    notes,
  }: { differences: { kind: string; count: number; examples: string[] }[]; notes: string[] } =
    JSON.parse(ended)
  const lost = notes.filter(note => !note.startsWith('QDRANT_URL'))
  return [
    ...differences.map(
      ({ kind, count, examples }) => `${count} × ${kind}: ${examples.join('; ')}.`,
    ),
    ...lost.map(note => `Verified, but: ${note}`),
  ]
}

/** Null as soon as a look finds all queues empty. */
async function busyQueues(machine: Pick<Machine, 'env'>): Promise<string | null> {
  let busy = ''
  for (let look = 0; look < LOOKS; look++) {
    const { queues }: Status = JSON.parse(await runScript(machine.env, 'status', '--json'))
    const full = Object.entries(queues).filter(([, { waiting, active }]) => waiting + active > 0)
    if (full.length === 0) return null
    busy = full
      .map(([name, { waiting, active }]) => `${name} (${waiting} waiting, ${active} active)`)
      .join(', ')
    await sleep(500)
  }
  return busy
}

/** A service ends within this time of SIGTERM; the rest is the machine's, which is busy. */
const STOP_MS = 21_000

/**
 * Processes end when they are told to, in time and with 0 or 143 (`SIGTERM` itself counts as that),
 * and by themselves only while something that they need is away.
 */
function checkEnds(
  { workers }: Pick<Machine, 'workers'>,
  outages: Outages,
  findings: Findings,
): void {
  for (const worker of workers) {
    for (const end of worker.ends) checkEnd(worker, end, outages, findings)
  }
}

function checkEnd(
  worker: Worker,
  { at, code, signal, asked, took }: End,
  outages: Outages,
  findings: Findings,
): void {
  const when = `${worker.name} (${worker.log}) at ${new Date(at).toISOString()}`
  const how = signal ?? `code ${code}`
  if (asked === 'SIGTERM') {
    const isGood = code === 0 || code === 143 || signal === 'SIGTERM'
    if (!isGood) findings.add(`Asked to end, ${when} ended with ${how}.`)
    if (took !== null && took > STOP_MS) findings.add(`Asked to end, ${when} took ${took} ms.`)
  } else if (asked === null && !outages.excuse(needs(worker), at, at))
    findings.add(`${when} ended by itself with ${how}, and nothing it needs was away.`)
}

function needs({ service }: Worker): Part[] {
  if (service === 'api') return ['postgres']
  return service === 'embedder' ? ['postgres', 'redis', 'qdrant', 'model'] : ['postgres', 'redis']
}

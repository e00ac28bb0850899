import { setTimeout as sleep } from 'node:timers/promises'
import type { Pool } from '../../../shared/postgres/pool.ts'
import { runScript } from '../../fleet.ts'
import type { Findings } from '../findings.ts'
import type { Machine } from '../machine/machine.ts'
import type { Outages } from '../outages.ts'
import type { Reading } from '../readers/readers.ts'
import type { Site } from '../site/site.ts'
import { checkArticles, storyOf } from './articles.ts'
import { checkEmbeddings } from './embeddings.ts'
import { checkEnds } from './ends.ts'
import { readHoldings, type Status } from './holdings.ts'
import { checkOrder, checkPoller, checkSequence } from './readers.ts'

export interface Evidence {
  site: Site
  machine: Pick<Machine, 'env' | 'workers'>
  pool: Pool
  outages: Outages
  findings: Findings
  reading: Reading
  /** How many articles were there before. */
  archive: number
}

/** Between two polls the queues are empty; the look at them must fall there. */
const LOOKS = 20

/** Compares what was published and read with what is there. What is wrong goes to `findings`. */
export async function judge(evidence: Evidence): Promise<{ indexed: number; embedded: number }> {
  const { site, machine, pool, outages, findings, reading, archive } = evidence
  const holdings = await readHoldings(machine.env, pool)
  await checkArticles(site, archive, holdings, article => storyOf(article, site, pool), findings)
  checkOrder(holdings, findings)
  checkEmbeddings(holdings, findings)
  for (const poller of reading.pollers) {
    const { country } = poller
    checkPoller(poller, article => country === null || article.country === country, holdings, findings)
  }
  for (const sequence of reading.sequences) checkSequence(sequence, holdings, findings)
  checkEnds(machine, outages, findings)
  for (const breach of site.breaches()) findings.add(`Rude: ${breach}`)
  const busy = await busyQueues(machine)
  if (busy) findings.add(`Nothing is to be done, and the queues are never empty: ${busy}.`)
  return {
    indexed: holdings.exported.length,
    embedded: holdings.embeddings.filter(({ embedded_at }) => embedded_at).length,
  }
}

/** Null as soon as a look finds all queues empty. */
async function busyQueues(machine: Pick<Machine, 'env'>): Promise<string | null> {
  let busy = ''
  for (let look = 0; look < LOOKS; look++) {
    const { queues }: Status = JSON.parse(await runScript(machine.env, 'status', '--json'))
    const full = Object.entries(queues).filter(([, { waiting, active }]) => waiting + active > 0)
    if (full.length === 0) return null
    busy = full.map(([name, { waiting, active }]) => `${name} (${waiting} waiting, ${active} active)`).join(', ')
    await sleep(500)
  }
  return busy
}

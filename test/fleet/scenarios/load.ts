import { setTimeout as sleep } from 'node:timers/promises'
import { createPool } from '../../../shared/postgres/pool.ts'
import { createOutages, type Outages, RECOVERY_MS } from '../../faults/findings.ts'
import { HOST_DELAY_MS } from '../../faults/machine/machine.ts'
import { catchUp, drain, readProgress } from '../../faults/progress.ts'
import { createClient } from '../../faults/readers/client.ts'
import { startReaders } from '../../faults/readers/readers.ts'
import { SITE_OUTLETS } from '../../faults/site/outlets.ts'
import { type Site, startSite } from '../../faults/site/site.ts'
import { judge } from '../../faults/verdict/judge.ts'
import { makeKey, syncCatalogue, until } from '../../fleet.ts'
import { startImporter } from '../clients/importer.ts'
import { startKeyHolder } from '../clients/keys.ts'
import { type Marker, startMarker } from '../clients/marker.ts'
import type { Box } from '../hosts/box.ts'
import type { Perscope } from '../parts/perscope.ts'
import type { Stage } from './scenario.ts'

/** Everybody who uses a fleet at once, and the verdict on what they saw. */
export interface Load {
  /** What is away, so that requests may fail. */
  outages: Outages
  marker: Marker
  /** Ends all writing, waits until everything is done, and compares. */
  finish(): Promise<void>
  /** Waits until all that is published by now is indexed. */
  untilIndexed(within: number): Promise<void>
  stop(): Promise<void>
}

const ARTICLES_A_SECOND = 2
/**
 * All hosts share the cores, and after a failover the model embeds what has piled up. Within so
 * many ms a search by meaning must be answered all the same.
 */
const MODEL_BUSY_MS = 20_000

/**
 * Starts a site that publishes, importers, makers of keys, pollers, walkers of pages and askers.
 */
export async function startLoad(stage: Stage, perscope: Perscope): Promise<Load> {
  const { box, seed, findings, figure, say, signal } = stage
  const { env, apis, databaseUrl } = perscope
  const site = await openSite(seed, box)
  await syncCatalogue(env, site.catalogue)
  const outages = createOutages()
  const { key } = await makeKey(env, 'readers')
  const client = createClient(apis, key, outages, findings, {
    askAgainFor: MODEL_BUSY_MS * stage.patience,
  })
  const pool = createPool(databaseUrl, 'load', () => {}, { max: 2 })
  const marker = await startMarker(databaseUrl)
  const keys = await startKeyHolder(env, apis)
  const importer = startImporter(seed, box.folder, env)
  site.publish(ARTICLES_A_SECOND)
  const readers = startReaders({ seed, client, apis: apis.length, findings })

  async function finish(): Promise<void> {
    site.rest()
    await Promise.all([marker.stop(), keys.stop(), importer.stop()])
    say(
      `${site.articles.length} articles are published and ${importer.count()} imported; waiting until all is done.`,
    )
    // So long the readers ask on, now that nothing may fail any more.
    await sleep(RECOVERY_MS, undefined, { signal }).catch(() => {})
    await readers.rest()
    if (!(await drain(pool, site.articles.length, importer.count(), signal)))
      findings.add('Not everything was done when nothing moved any more.')
    await catchUp(readers.pollers, pool)
    await readers.stop()
    const machine = { env, workers: [] }
    await judge({
      site,
      machine,
      pool,
      outages,
      findings,
      reading: readers,
      imported: importer.count(),
    })
    await marker.check(pool, findings)
    await keys.check(pool, findings)
    for (const member of perscope.hosts.flatMap(host => host.members())) {
      for (const { at, code } of member.ends)
        findings.add(
          `${member.name} ended with ${code} at ${new Date(at).toISOString()}; see ${member.log}.`,
        )
    }
    const { asked, forgiven, again, failed, slowest } = client.counts
    figure('articles published', site.articles.length)
    figure('articles imported', importer.count())
    figure('runs of import', `${importer.runs.all}, ${importer.runs.failed} failed`)
    figure('rows answered', marker.count())
    figure('keys made', keys.keys.length)
    figure(
      'requests',
      `${asked}, ${forgiven} failed while a host was lost, ${failed} otherwise; slowest ${slowest} ms`,
    )
    figure('searches by meaning that were asked again', again)
    figure('sequences of pages', readers.sequences.length)
  }

  return {
    outages,
    marker,
    finish,
    async untilIndexed(within: number) {
      const published = site.articles.length
      const isDone = async () =>
        ((await readProgress(pool))?.articles ?? 0) >= published + importer.count()
      await until(isDone, within, () => 'What was published is not indexed in time.')
    },
    async stop() {
      site.rest()
      await Promise.all([
        marker.stop(),
        keys.stop(),
        importer.stop(),
        readers.rest(),
        readers.stop(),
      ])
      await pool.end()
      await site.close()
    },
  }
}

/** Each outlet has an address of its own, because politeness goes by host. */
async function openSite(seed: number, box: Box): Promise<Site> {
  const outlets = []
  for (const outlet of SITE_OUTLETS)
    outlets.push({ ...outlet, address: await box.network.runnerAddress() })
  return startSite(seed, HOST_DELAY_MS, outlets)
}

import { setTimeout as sleep } from 'node:timers/promises'
import { createPool } from '#shared/postgres/pool'
import { createOutages, type Outages, RECOVERY_MS } from '#test/faults/findings'
import { HOST_DELAY_MS } from '#test/faults/machine/machine'
import { catchUp, drain, readProgress } from '#test/faults/progress'
import { createClient } from '#test/faults/readers/client'
import { startReaders } from '#test/faults/readers/readers'
import { SITE_OUTLETS } from '#test/faults/site/outlets'
import { type Site, startSite } from '#test/faults/site/site'
import { judge } from '#test/faults/verdict/judge'
import { makeKey, syncCatalogue, until } from '#test/fleet'
import { startImporter } from '#test/fleet/clients/importer'
import { startKeyHolder } from '#test/fleet/clients/keys'
import { type Marker, startMarker } from '#test/fleet/clients/marker'
import type { Box } from '#test/fleet/hosts/box'
import type { Perscope } from '#test/fleet/parts/perscope'
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

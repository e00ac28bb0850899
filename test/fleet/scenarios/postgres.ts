import { setTimeout as sleep } from 'node:timers/promises'
import { until } from '../../fleet.ts'
import { startEtcd } from '../parts/etcd.ts'
import { type PatroniMember, primaryOf, startPatroni, untilSynchronous } from '../parts/patroni.ts'
import { startPerscope } from '../parts/perscope.ts'
import { patroniPrograms } from '../programs/patroni.ts'
import { type Load, startLoad } from './load.ts'
import type { Scenario, Stage } from './scenario.ts'

/** The promise: writes go on so soon after a host is lost. */
const WRITES_MS = 30_000
const PATIENCE_MS = 90_000
/** Between two losses: services and pollers go on undisturbed. */
const QUIET_MS = 8_000

type Loss = 'killed' | 'paused' | 'cut off'

export const postgres: Scenario = {
  name: 'postgres',
  about: 'Three hosts with Postgres: the primary is killed under all services, and nothing is lost.',
  seconds: null,
  needsNamespaces: false,
  run: stage => survive(stage, ['killed']),
}

export const postgresLong: Scenario = {
  name: 'postgres-long',
  about: 'Three hosts with Postgres: the primary is killed, paused and cut off in turn, with a distant standby.',
  seconds: null,
  needsNamespaces: true,
  run: stage => survive(stage, ['paused', 'cut off', 'killed', 'paused', 'cut off', 'killed']),
}

async function survive(stage: Stage, losses: readonly Loss[]): Promise<void> {
  const { box, say } = stage
  const programs = await patroniPrograms(stage)
  const hosts = await Promise.all(['db1', 'db2', 'db3'].map(name => box.addHost(name)))
  const etcd = await startEtcd(box, hosts)
  const members = await startPatroni(box, programs, hosts, etcd)
  say('Postgres runs on three hosts.')
  const perscope = await startPerscope(box, members)
  try {
    const load = await startLoad(stage, perscope)
    say('The services run, and all clients are at work.')
    try {
      for (const loss of losses) {
        await sleep(QUIET_MS)
        await lose(stage, load, members, loss)
      }
      await sleep(QUIET_MS)
      await load.finish()
    } finally {
      await load.stop()
    }
  } finally {
    await perscope.stop()
  }
}

/** Loses the primary's host, waits until writes go on, and takes the host back as a standby. */
async function lose(stage: Stage, load: Load, members: readonly PatroniMember[], loss: Loss): Promise<void> {
  const { figure, findings, patience } = stage
  const primary = await primaryOf(members)
  if (!primary) throw new Error('There is no primary to lose.')
  const isOver = load.outages.begin(['postgres'])
  const began = Date.now()
  const undo = await strike(primary, loss)
  await until(
    () => load.marker.latest() > began + 1_000,
    PATIENCE_MS,
    () => `No writes since ${primary.host.name} was ${loss}.`,
  )
  const away = load.marker.latest() - began
  isOver()
  figure(`${primary.host.name} ${loss}: writes went on after`, `${(away / 1000).toFixed(1)} s`)
  if (away > WRITES_MS * patience) findings.add(`Writes went on ${away} ms after ${primary.host.name} was ${loss}.`)
  await undo()
  await untilSynchronous(members, PATIENCE_MS)
  figure(`${primary.host.name} ${loss}: a standby again after`, `${((Date.now() - began) / 1000).toFixed(1)} s`)
  if ((await primary.role()) !== 'standby') findings.add(`${primary.host.name} did not come back as a standby.`)
}

/** @returns what takes it back */
async function strike({ host }: PatroniMember, loss: Loss): Promise<() => Promise<void>> {
  if (loss === 'killed') {
    await host.crash()
    return () => host.boot()
  }
  if (loss === 'paused') {
    await host.pause()
    return () => host.resume()
  }
  await host.links?.isolate()
  return async () => host.links?.rejoin()
}

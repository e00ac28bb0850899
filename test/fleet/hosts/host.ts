import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Owner } from '#infra/embedded/accounts'
import type { Family } from '#infra/embedded/supervision/family'
import { type Member, signalProcess, startMember } from '#test/faults/machine/member'
import { until } from '#test/fleet'
import type { Links, Network } from './network.ts'

/** A program that a host runs, and starts again whenever it ends. */
export interface Program {
  /** One of its kind on the host: `etcd`, `api`. Its log is named for it. */
  name: string
  command: string
  args?: readonly string[]
  /** Beside PATH and HOME. Nothing else of the runner's environment reaches it. */
  env?: NodeJS.ProcessEnv
  /** The account; the runner's own where it is null or absent. */
  owner?: Owner | null
  /** Before every start, as at a boot. */
  prepare?: () => Promise<void>
}

/** A host of the fleet, which can be lost. */
export interface Host {
  name: string
  address: string
  /** Its disk. A crash leaves it as it is. */
  folder: string
  /** Null where links cannot be broken (loopback). */
  links: Links | null
  start(program: Program): Promise<void>
  /** Ends a program in order, and starts it again, as an upgrade does. */
  restart(name: string): Promise<void>
  /** Ends a program for good; it has SIGTERM first. */
  stop(program: string): Promise<void>
  member(program: string): Member | undefined
  /** Its programs, also those that a crash has ended. */
  members(): Member[]
  /** Stops all its processes where they are. The kernel goes on to accept what is sent. */
  pause(): Promise<void>
  resume(): Promise<void>
  /** Its power is lost: no packet leaves it any more, and all its processes die at once. */
  crash(): Promise<void>
  /** Starts it after a crash, with all its programs. */
  boot(): Promise<void>
}

const DEATH_MS = 20_000

/** @param folder the folder of the run */
export async function createHost(
  name: string,
  folder: string,
  network: Network,
  family: Family,
): Promise<Host> {
  const place = await network.attach(name)
  const disk = join(folder, name)
  await mkdir(disk, { mode: 0o755 })
  const programs = new Map<string, Program>()
  const running = new Map<string, Member>()
  const { links } = place

  async function launch(program: Program): Promise<void> {
    await program.prepare?.()
    const { owner } = program
    const asOwner = owner
      ? [
          'setpriv',
          `--reuid=${owner.uid}`,
          `--regid=${owner.gid}`,
          '--clear-groups',
          '--inh-caps=-all',
        ]
      : []
    const [command = '', ...args] = [
      ...place.enter,
      ...asOwner,
      program.command,
      ...(program.args ?? []),
    ]
    const member = startMember({
      name: `${name}/${program.name}`,
      command,
      args,
      env: {
        PATH: process.env.PATH,
        HOME: disk,
        TMPDIR: process.env.TMPDIR,
        LC_ALL: 'C.UTF-8',
        ...program.env,
      },
      // On loopback HOME and the working directory tell whose process it is.
      cwd: disk,
      log: join(folder, 'logs', `${name}-${program.name}.log`),
      family,
      ...(program.prepare && { prepare: program.prepare }),
    })
    running.set(program.name, member)
  }

  async function send(signal: NodeJS.Signals): Promise<number> {
    const pids = await place.pids()
    for (const pid of pids) signalProcess(pid, signal)
    return pids.length
  }

  return {
    name,
    address: place.address,
    folder: disk,
    links,
    async start(program: Program) {
      programs.set(program.name, program)
      await launch(program)
    },
    async restart(name: string) {
      const program = programs.get(name)
      if (!program) throw new Error(`There is no ${name} to restart.`)
      await running.get(name)?.stop()
      await launch(program)
    },
    async stop(program: string) {
      programs.delete(program)
      await running.get(program)?.stop()
      running.delete(program)
    },
    member: (program: string) => running.get(program),
    members: () => [...running.values()],
    async pause() {
      // A process may have started another one meanwhile.
      for (let round = 0; round < 2; round++) await send('SIGSTOP')
    },
    async resume() {
      await send('SIGCONT')
    },
    async crash() {
      await links?.isolate()
      for (const member of running.values()) member.abandon()
      await until(
        async () => (await send('SIGKILL')) === 0,
        DEATH_MS,
        `Processes of ${name} do not die.`,
      )
    },
    async boot() {
      await links?.reset()
      for (const program of programs.values()) await launch(program)
    },
  }
}

export type Loss = 'killed' | 'paused' | 'cut off'

/** Loses a host in one of the ways in which hosts are lost; returns what takes it back. */
export async function strike(host: Host, loss: Loss): Promise<() => Promise<void>> {
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

/** The time since a moment (ms since 1970), as figures show it. */
export const since = (began: number): string => `${((Date.now() - began) / 1000).toFixed(1)} s`

/** Breaks the line between two hosts; others still reach both. */
export async function cutBetween(one: Host, other: Host): Promise<void> {
  await one.links?.cut(other.address)
  await other.links?.cut(one.address)
}

export async function mendBetween(one: Host, other: Host): Promise<void> {
  await one.links?.mend(other.address)
  await other.links?.mend(one.address)
}

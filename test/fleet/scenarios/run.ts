import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createFindings } from '#test/faults/findings'
import { openBox, VERDICT } from '#test/fleet/hosts/box'
import { succeeds } from '#test/script'
import type { Scenario } from './scenario.ts'

export interface RunOptions {
  seed: number
  /** A factor for promised times, on a machine that may be busy. */
  patience: number
  /** Hosts are addresses of loopback also where namespaces are allowed. */
  loopback: boolean
  /** The folder stays although nothing was found. */
  keep: boolean
  say(sentence: string): void
  signal: AbortSignal
}

export interface FleetVerdict {
  ok: boolean
  scenario: string
  hosts: 'loopback' | 'namespaces'
  seed: number
  /** Seconds that the whole run took. */
  took: number
  figures: Record<string, number | string>
  findings: string[]
  /** Logs of all programs; removed when nothing was found. */
  folder: string
}

/** Runs one scenario on hosts of its own. All that it starts has ended when it resolves. */
export async function runScenario(scenario: Scenario, options: RunOptions): Promise<FleetVerdict> {
  const { seed, say, signal } = options
  const began = Date.now()
  const findings = createFindings(sentence => say(`  ! ${sentence}`))
  const figures: Record<string, number | string> = {}
  const box = await openBox(say, options.loopback ? 'loopback' : null)
  const verdict = () => {
    const sentences = findings.sentences()
    return {
      ok: sentences.length === 0,
      scenario: scenario.name,
      hosts: box.network.kind,
      seed,
      took: Math.round((Date.now() - began) / 1000),
      figures,
      findings: sentences,
      folder: box.folder,
    }
  }
  let keep = true
  try {
    if (scenario.needsNamespaces && box.network.kind === 'loopback') {
      keep = false
      throw new NeedsNamespaces(
        `The scenario ${scenario.name} cuts hosts off, which needs network namespaces.`,
      )
    }
    const running = scenario.run({
      box,
      seed,
      findings,
      signal,
      patience: options.patience,
      figure(name, value) {
        figures[name] = value
        say(`  ${name}: ${value}`)
      },
      say: sentence => say(`${clock(began)} ${sentence}`),
    })
    if (await isBrokenOff(running, signal)) findings.add('The run was broken off by a signal.')
    keep = options.keep || findings.sentences().length > 0
    return verdict()
  } finally {
    if (keep) await writeFile(join(box.folder, VERDICT), JSON.stringify(verdict(), null, 2))
    await box.close(keep)
  }
}

/** Waits for the scenario, but not after a signal: its hosts end under it then. */
async function isBrokenOff(running: Promise<void>, signal: AbortSignal): Promise<boolean> {
  const ended = new AbortController()
  const broken = succeeds(once(signal, 'abort', { signal: ended.signal }))
  if (signal.aborted) return true
  try {
    return await Promise.race([running.then(() => false), broken])
  } finally {
    ended.abort()
    running.catch(() => {})
  }
}

/** The scenario cannot be run on this machine: it is skipped. */
export class NeedsNamespaces extends Error {
  override name = 'NeedsNamespaces'
}

const clock = (began: number) => `${((Date.now() - began) / 1000).toFixed(1).padStart(6)} s`

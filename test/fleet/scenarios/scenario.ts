import type { Findings } from '#test/faults/findings'
import type { Box } from '#test/fleet/hosts/box'

/** A story of hosts that are lost, and what clients must not notice. */
export interface Scenario {
  name: string
  /** One sentence for `--list`. */
  about: string
  /** Whether it cuts hosts off, which addresses of loopback cannot. */
  needsNamespaces: boolean
  run(stage: Stage): Promise<void>
}

/** What a scenario works with. */
export interface Stage {
  box: Box
  seed: number
  /** A factor for promised times: 1 by hand; more in tests, because their machine may be busy. */
  patience: number
  /** Broken promises. Each is one sentence; a run without any has passed. */
  findings: Findings
  /** Called with what was measured, as `('writes went on after', '12.3 s')`. */
  figure(name: string, value: number | string): void
  say(sentence: string): void
  signal: AbortSignal
}

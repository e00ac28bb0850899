import { counter, gauge } from '../../../shared/log/registry.ts'

/** `server`: standby, primary */
export const statements = counter(
  'read_statements_total',
  'Statements of searches that a standby may answer, by the server that did: standby, primary.',
  ['server'],
)

/** `reason`: see `Refusal` */
export const refusals = counter(
  'read_refusals_total',
  'Statements that a standby did not answer: behind, ahead, foreign, timeout, error.',
  ['reason'],
)

/**
 * Shows which servers of DATABASE_READ_URL answer. All members of a cluster may be named there, so
 * the primary among them counts as well.
 */
export function observeStandbys(states: () => { name: string; isUp: boolean }[]): void {
  gauge(
    'read_standby_up',
    'Whether a server of DATABASE_READ_URL answers this process.',
    ['standby'],
    async () => states(),
    (set, standbys) => {
      for (const { name, isUp } of standbys) set({ standby: name }, isUp ? 1 : 0)
    },
  )
}

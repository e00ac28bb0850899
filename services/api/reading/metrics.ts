import { counter, gauge } from '../../../shared/metrics/registry.ts'

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

/** Shows which standbys answer. */
export function observeStandbys(states: () => { name: string; answers: boolean }[]): void {
  gauge(
    'read_standby_up',
    'Whether a standby of DATABASE_READ_URL answers this process.',
    ['standby'],
    async () => states(),
    (set, standbys) => {
      for (const { name, answers } of standbys) set({ standby: name }, answers ? 1 : 0)
    },
  )
}

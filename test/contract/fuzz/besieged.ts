import { readFile } from 'node:fs/promises'
import type { Test } from 'tap'
import { createFleet } from '../../fleet.ts'
import { startTestApi } from '../api.ts'

/** A process to attack. The test's own process makes its articles. */
export interface Besieged {
  base: string
  secret: string
  /** MB of resident memory; null where there is no /proc. */
  memory(): Promise<number | null>
  /** null while the started process runs; then its last output. */
  lastWords(): string | null
}

export async function startBesieged(t: Test, articles = 20): Promise<Besieged> {
  const api = await startTestApi(t)
  const { secret } = await api.issue({ rate: 1_000_000 })
  await api.index(
    Array.from({ length: articles }, (_, i) => ({ title: `De brug nummer ${i}`, body: 'Het water onder le pont.' })),
  )
  const fleet = createFleet(
    {
      DATABASE_URL: api.config.DATABASE_URL,
      LOG_LEVEL: 'fatal',
      AUTH_LOCK_FAILURES: '1000000',
      QDRANT_URL: '',
      EMBEDDINGS_URL: '',
    },
    t,
  )
  const member = await fleet.start('api')
  const pid = member.process.pid ?? 0
  return {
    base: fleet.base(),
    secret,
    async memory() {
      const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
      const kilobytes = /VmRSS:\s+(\d+)/.exec(status)?.[1]
      return kilobytes === undefined ? null : Math.round(Number(kilobytes) / 1_024)
    },
    lastWords: () => (member.process.exitCode === null && member.process.signalCode === null ? null : member.log()),
  }
}

/** A quantile of ascending values. */
export const quantile = (ascending: number[], part: number) =>
  ascending[Math.min(ascending.length - 1, Math.floor(ascending.length * part))] ?? Number.NaN

import type { Findings } from '../findings.ts'
import type { Machine, Worker } from '../machine/machine.ts'
import type { End } from '../machine/member.ts'
import type { Outages, Part } from '../outages.ts'

/** A service ends within this time of SIGTERM; the rest is the machine's, which is busy. */
const STOP_MS = 21_000

/**
 * Processes end when they are told to, in time and with 0 or 143 (`SIGTERM` itself counts as that),
 * and by themselves only while something that they need is away.
 */
export function checkEnds({ workers }: Pick<Machine, 'workers'>, outages: Outages, findings: Findings): void {
  for (const worker of workers) {
    for (const end of worker.ends) checkEnd(worker, end, outages, findings)
  }
}

function checkEnd(worker: Worker, { at, code, signal, asked, took }: End, outages: Outages, findings: Findings): void {
  const when = `${worker.name} (${worker.log}) at ${new Date(at).toISOString()}`
  const how = signal ?? `code ${code}`
  if (asked === 'SIGTERM') {
    const isGood = code === 0 || code === 143 || signal === 'SIGTERM'
    if (!isGood) findings.add(`Asked to end, ${when} ended with ${how}.`)
    if (took !== null && took > STOP_MS) findings.add(`Asked to end, ${when} took ${took} ms.`)
  } else if (asked === null && !outages.excuse(needs(worker), at, at))
    findings.add(`${when} ended by itself with ${how}, and nothing it needs was away.`)
}

function needs({ service }: Worker): Part[] {
  if (service === 'api') return ['postgres']
  return service === 'embedder' ? ['postgres', 'redis', 'qdrant', 'model'] : ['postgres', 'redis']
}

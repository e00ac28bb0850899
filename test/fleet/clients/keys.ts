import { setTimeout as sleep } from 'node:timers/promises'
import type { Pool } from '#shared/postgres/pool'
import type { Findings } from '#test/faults/findings'
import { makeKey } from '#test/fleet'

/** Makes keys, and uses up the quota of one of them; both must be kept. */
export interface KeyHolder {
  /** Keys that `keys create` has printed. */
  keys: string[]
  check(pool: Pool, findings: Findings): Promise<void>
  stop(): Promise<void>
}

const CREATE_PAUSE_MS = 3_000
const CHARGE_PAUSE_MS = 250
const PATIENCE_MS = 5_000
const QUOTA = 100_000

/** @param apis addresses of the APIs, which are asked in turn */
export async function startKeyHolder(
  env: NodeJS.ProcessEnv,
  apis: readonly string[],
): Promise<KeyHolder> {
  const keys: string[] = []
  const charged = await makeKey(env, 'charged', QUOTA)
  const requests = { answered: 0, sent: 0 }
  let stopping = false
  const ask = async (turn: number, key: string) => {
    const answer = await fetch(`${apis[turn % apis.length]}/v1/articles?per_page=1`, {
      headers: { authorization: `Bearer ${key}` },
      signal: AbortSignal.timeout(PATIENCE_MS),
    })
    await answer.text()
    return answer.status
  }
  async function create(): Promise<void> {
    for (let number = 1; !stopping; number++) {
      const made = await makeKey(env, `key ${number}`).catch(() => null)
      if (made) keys.push(made.key)
      await sleep(CREATE_PAUSE_MS)
    }
  }
  async function charge(): Promise<void> {
    for (let turn = 0; !stopping; turn++) {
      requests.sent += 1
      const status = await ask(turn, charged.key).catch(() => 0)
      if (status === 200) requests.answered += 1
      await sleep(CHARGE_PAUSE_MS)
    }
  }

  const working = Promise.all([create(), charge()])

  return {
    keys,
    async check(pool: Pool, findings: Findings): Promise<void> {
      for (const [turn, key] of keys.entries()) {
        const status = await ask(turn, key).catch(() => 0)
        if (status !== 200)
          findings.add(
            `Key ${turn + 1} of ${keys.length} was made, and is answered with ${status}.`,
          )
      }
      const { rows } = await pool.query<{ used: number }>(
        'select used from quota_months where key_id = $1',
        [charged.id],
      )
      const used = rows[0]?.used ?? 0
      const { answered, sent } = requests
      if (used < answered || used > sent)
        findings.add(
          `Of a quota ${used} requests are used, where ${answered} of ${sent} were answered.`,
        )
    },
    async stop(): Promise<void> {
      stopping = true
      await working
    },
  }
}

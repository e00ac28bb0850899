import { setTimeout as sleep } from 'node:timers/promises'
import { pino } from 'pino'
import t from 'tap'
import { createOutageLog, type OutageOptions } from './outage.ts'

// They mostly wait.
t.jobs = 2

/** An outage and the lines that it writes. */
function watched(options: Partial<OutageOptions> = {}) {
  const lines: { level: number; msg: string; err?: string; failures?: number }[] = []
  const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(JSON.parse(line)) })
  return { lines, outage: createOutageLog(log, { begins: 'it is away', ends: 'it is back', ...options }) }
}

t.test('an outage that is met ten thousand times is two lines', async t => {
  const { lines, outage } = watched()
  outage.over()
  t.same(lines, [], 'there was none')
  for (let n = 0; n < 10_000; n++) outage.met(new Error(`no ${n}`))
  outage.over()
  t.equal(lines.length, 1, 'what failed a moment ago is not over')
  t.match(lines[0], { msg: 'it is away', err: 'no 0' })
  await sleep(3_200)
  outage.over()
  outage.over()
  t.equal(lines.length, 2)
  t.match(lines[1], { msg: 'it is back', failures: 10_000 })
})

t.test('who would not notice by itself that all is well again asks', async t => {
  let asked = 0
  const { lines, outage } = watched({
    ask: async () => {
      asked += 1
      if (asked < 3) throw new Error('still away')
    },
  })
  outage.met(new Error('no'))
  for (let waited = 0; lines.length < 2 && waited < 60_000; waited += 100) await sleep(100)
  t.equal(asked, 3)
  t.match(lines[1], { msg: 'it is back', failures: 1 })
  await sleep(2_000)
  t.equal(asked, 3, 'and does not ask on')
})

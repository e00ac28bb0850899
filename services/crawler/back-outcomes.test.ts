import t from 'tap'
import {
  againAfter,
  endedBy,
  mayBeTried,
  type Outcome,
  outcomeOfDocument,
  outcomeOfPage,
} from './back-outcomes.ts'
import type { Verdict } from './verdict.ts'

const head = { status: 200, url: 'https://x.example/a', contentType: null, rights: null }
const detail = null
const lost = (reason: string): Outcome => ({ kind: 'lost', reason })
const failed = (reason: string): Outcome => ({ kind: 'failed', reason })
const refused = (reason: string): Outcome => ({ kind: 'refused', reason })
const waits = (reason: string, wait: number): Outcome => ({ kind: 'waits', reason, wait })

t.test('what a try at a page means for the past', async t => {
  const page: Extract<Verdict, { kind: 'store' }> = { kind: 'store', body: Buffer.of(1), ...head }
  const cases: [Verdict, Outcome][] = [
    [page, { kind: 'fetched', page }],
    [{ kind: 'store without body', block: 'challenge', ...head }, refused('challenge')],
    [{ kind: 'refuse', reason: 'gone', detail }, lost('gone')],
    [{ kind: 'refuse', reason: 'robots', detail }, refused('robots')],
    [{ kind: 'retry', reason: 'gone', detail }, lost('gone')],
    [{ kind: 'retry', reason: 'server error', detail }, failed('server error')],
    [{ kind: 'put back', reason: 'host busy', wait: 7 }, waits('host busy', 7)],
  ]
  for (const [verdict, outcome] of cases) t.same(outcomeOfPage(verdict), outcome, verdict.kind)
})

t.test('what a try at a sitemap means', async t => {
  const feed = { named: [], parts: [], next: null, whole: true }
  const failure = (reason: string, wait = {}) =>
    ({ kind: 'failure', reason, detail: '', wait }) as const
  const cases: [Parameters<typeof outcomeOfDocument>[0], Outcome][] = [
    [{ kind: 'interrupted' }, null],
    [{ kind: 'later', host: 'x.example', wait: 9 }, waits('host busy', 9)],
    [{ kind: 'unchanged', fresh: 0, moved: null }, lost('status 304')],
    [failure('disallowed'), refused('robots')],
    [failure('robots unreachable', { exactly: 5 }), waits('robots unreachable', 5)],
    [failure('held'), waits('held', 1_000)],
    [failure('status 503'), failed('status 503')],
    [failure('status 429'), failed('status 429')],
    [failure('status 404'), lost('status 404')],
    [failure('connection'), failed('connection')],
    [failure('no feed'), lost('no feed')],
    [
      { kind: 'feed', feed },
      { kind: 'fetched', document: feed },
    ],
  ]
  for (const [document, outcome] of cases)
    t.same(outcomeOfDocument(document), outcome, JSON.stringify(document))
})

t.test('the fifth failure is the last, and so is the twenty-fourth wait', async t => {
  const busy = waits('host busy', 1)
  const away: Outcome = { kind: 'waits', reason: 'robots unreachable', wait: 1, away: 'x.example' }
  const cases: [Outcome, number, number, Outcome][] = [
    [failed('time-out'), 4, 30, failed('time-out')],
    [failed('time-out'), 5, 0, lost('time-out')],
    [busy, 9, 22, busy],
    [busy, 1, 23, { kind: 'lost', reason: 'host busy', away: null }],
    [away, 1, 23, { kind: 'lost', reason: 'robots unreachable', away: 'x.example' }],
    [waits('held', 1), 1, 99, waits('held', 1)],
    [refused('robots'), 5, 23, refused('robots')],
    [null, 5, 23, null],
  ]
  for (const [outcome, attempts, waited, ended] of cases)
    t.same(endedBy(outcome, { attempts, waits: waited }), ended, `${attempts} ${waited}`)
  const tries: [number, number, boolean][] = [
    [5, 24, true],
    [6, 0, false],
    [1, 25, false],
  ]
  for (const [attempts, waited, may] of tries)
    t.equal(mayBeTried({ attempts, waits: waited }), may, `${attempts} ${waited}`)
})

t.test('a failure waits longer each time, and waiting is no failure', async t => {
  const away: Outcome = { kind: 'waits', reason: 'robots unreachable', wait: 9_000, away: 'x' }
  const cases: [Outcome, ReturnType<typeof againAfter>][] = [
    [failed('time-out'), { pause: 800, failed: 1, waited: 0 }],
    [waits('host busy', 5_000), { pause: 5_000, failed: 0, waited: 1 }],
    [waits('host busy', 5), { pause: 1_000, failed: 0, waited: 1 }],
    [waits('held', 60_000), { pause: 60_000, failed: 0, waited: 0 }],
    [away, { pause: 0, failed: 0, waited: 1 }],
    [null, { pause: 1_000, failed: 0, waited: 1 }],
    [lost('gone'), null],
    [{ kind: 'fetched' }, null],
  ]
  for (const [outcome, again] of cases)
    t.same(againAfter(outcome, 3, 100), again, JSON.stringify(outcome))
})

import t from 'tap'
import type { FetchedResponse } from '../fetch/request.ts'
import { digestOf } from '../pages/save.ts'
import type { Fetched } from '../robots/polite.ts'
import type { DueLook } from './due.ts'
import { seenOf } from './seen.ts'

const BODY = Buffer.from('<!doctype html><html><body><p>Tekst</p></body></html>')
const look: DueLook = {
  ...{ pageNo: 1n, outletNo: 1, url: 'https://krant.example/a', finalUrl: 'https://krant.example/a' },
  ...{ etag: '"1"', lastModified: null, digest: digestOf(BODY), looks: 0, attempts: 0 },
}
const answer = (status: number, more: Partial<FetchedResponse> = {}, url = look.url): Fetched => ({
  kind: 'answer',
  answer: { status, headers: { 'content-type': 'text/html' }, body: BODY, framed: true, ...more },
  url: new URL(url),
})
const seen = (fetched: Fetched) => (fetched.kind === 'interrupted' ? null : seenOf(fetched, look))

t.test('not modified, and the same bytes, are unchanged', async t => {
  t.same(seen(answer(304)), { kind: 'unchanged', validators: null })
  const headers = { 'content-type': 'text/html', etag: '"2"' }
  t.same(seen(answer(200, { headers })), { kind: 'unchanged', validators: { etag: '"2"', lastModified: null } })
})

t.test('validators that match the page of a redirect are worth nothing', async t => {
  t.same(seen(answer(304, {}, 'https://krant.example/')), { kind: 'other page' })
})

t.test('other bytes are for the normaliser, also without an end', async t => {
  const body = Buffer.from('<!doctype html><html><body><p>Andere tekst')
  t.match(seen(answer(200, { body, framed: false })), { kind: 'other bytes', digest: digestOf(body), status: 200 })
})

t.test('404 and 410 are gone; walls, files and robots.txt end the look; failures are tried again', async t => {
  t.same(seen(answer(404)), { kind: 'gone', status: 404 })
  t.same(seen(answer(410)), { kind: 'gone', status: 410 })
  t.same(seen(answer(403)), { kind: 'unreadable', reason: 'forbidden' })
  t.same(seen(answer(200, { headers: { 'content-type': 'application/pdf' } })), {
    kind: 'unreadable',
    reason: 'not-html',
  })
  t.same(seen({ kind: 'disallowed', detail: '' }), { kind: 'forbidden' })
  t.same(seen(answer(503)), { kind: 'retry', reason: 'server error' })
  t.same(seen(answer(200, { body: Buffer.alloc(0) })), { kind: 'retry', reason: 'cut' })
  t.same(seen({ kind: 'failure', reason: 'time-out', detail: '' }), { kind: 'retry', reason: 'time-out' })
  t.same(seen({ kind: 'busy', host: 'x', wait: 5 }), { kind: 'put back', wait: 5 })
})

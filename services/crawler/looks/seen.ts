import type { Validators } from '../fetch/validators.ts'
import { digestOf } from '../pages/save.ts'
import { judge } from '../pages/verdict.ts'
import type { Fetched } from '../robots/polite.ts'
import type { DueLook } from './due.ts'

/** The outcome of one try. */
export type Seen =
  /** Not modified, or the same bytes. Validators are null where the old ones hold. */
  | { kind: 'unchanged'; validators: Validators | null }
  /** Other bytes. Whether the article has changed, the normaliser says. */
  | {
      kind: 'other bytes'
      status: number
      url: string
      contentType: string | null
      body: Buffer
      digest: Buffer
      validators: Validators
    }
  | { kind: 'gone'; status: number }
  /** The outlet shows the page to us no longer, or shows no page. The look is over. */
  | { kind: 'unreadable'; reason: string }
  /** robots.txt forbids the page now. It is never looked at again. */
  | { kind: 'forbidden' }
  | { kind: 'retry'; reason: string }
  | { kind: 'put back'; wait: number }
  /** The validators matched a page that we were redirected to: they are worth nothing. */
  | { kind: 'other page' }

/** Judges an answer. A look is worth less than a first try, so walls and files end it. */
export function seenOf(fetched: Exclude<Fetched, { kind: 'interrupted' }>, look: DueLook): Seen {
  if (fetched.kind === 'answer' && fetched.answer.status === 304) {
    return fetched.url.href === look.finalUrl ? { kind: 'unchanged', validators: null } : { kind: 'other page' }
  }
  // A page without a length and without an end was accepted before: it is again.
  const verdict = judge(fetched, Number.MAX_SAFE_INTEGER - 1)
  switch (verdict.kind) {
    case 'store': {
      const { status, url, contentType, body, validators } = verdict
      const digest = digestOf(body)
      if (look.digest?.equals(digest)) return { kind: 'unchanged', validators }
      return { kind: 'other bytes', status, url, contentType, body, digest, validators }
    }
    case 'store without body':
      return { kind: 'unreadable', reason: verdict.block }
    case 'refuse':
      if (verdict.reason === 'robots') return { kind: 'forbidden' }
      if (verdict.reason !== 'gone') return { kind: 'unreadable', reason: verdict.reason }
      return { kind: 'gone', status: fetched.kind === 'answer' ? fetched.answer.status : 404 }
    case 'retry':
      return { kind: 'retry', reason: verdict.reason }
    case 'put back':
      return { kind: 'put back', wait: verdict.wait }
  }
}

import { LRUCache } from 'lru-cache'
import type { IndexState } from '../../../search/index.ts'
import type { Plan } from '../../../shared/plans/keys.ts'
import { historyStart } from '../contract/request.ts'
import { type Answer, etagOf, matchesEtag } from '../http/answer.ts'

/** Everything that the answer of an operation depends on. */
export interface Asked {
  /** Its path. */
  operation: string
  /** The query string as it arrived. */
  query: string
  plan: Plan
  state: IndexState
  /** When it was asked: the search may end after midnight. */
  now: Date
}

interface Standing {
  state: IndexState
  /** Without its content, unless the page is empty. */
  answer: Answer & { etag: string }
}

/** Bytes of all standing answers: some thousand polls with long addresses. */
const MOST_BYTES = 8_388_608
const NOTHING = Buffer.alloc(0)
/** Of an answer without its content. */
const ENTRY_BYTES = 500

/**
 * Answers that hold for as long as the index is in the same state, so that a poll with nothing new
 * needs no search. Only ETags and empty pages are kept: a client that asks for articles gets them
 * from a search. Keys are not part of it: whoever has the same plan is told the same.
 */
export function createStandingAnswers() {
  const standing = new LRUCache<string, Standing>({ maxSize: MOST_BYTES })
  return {
    /** The answer, when it is an empty page or the client has it; null: it takes a search. */
    find(asked: Asked, ifNoneMatch: string | undefined): Answer | null {
      const known = standing.get(nameOf(asked))
      if (known === undefined || !isSame(known.state, asked.state)) return null
      return known.answer.isEmpty || matchesEtag(ifNoneMatch, known.answer.etag) ? known.answer : null
    },

    /** Takes in the answer of a search, and returns it with its ETag. */
    keep(asked: Asked, found: Answer): Answer {
      const answer = { ...found, etag: etagOf(found) }
      // The candidates of a search by meaning change by themselves.
      if (found.search === 'semantic') return answer
      const name = nameOf(asked)
      const untagged = found.isEmpty ? found.untagged() : ''
      const body = found.isEmpty ? found.body(untagged) : NOTHING
      const kept = { ...answer, tagged: '', untagged: () => untagged, body: () => body, searchMs: 0 }
      const size = ENTRY_BYTES + 2 * name.length + body.length
      standing.set(name, { state: asked.state, answer: kept }, { size })
      return answer
    },
  }
}

function nameOf({ operation, query, plan, now }: Asked): string {
  const { countries, history } = plan
  // A plan that rolls has another start each day, and cursors are bound to its number of days.
  const days = history.kind === 'rolling' ? history.days : ''
  return `${operation} ${countries} ${days} ${historyStart(history, now).getTime()} ${query}`
}

const isSame = (a: IndexState, b: IndexState): boolean =>
  a.lastSeq === b.lastSeq && a.version === b.version && a.wordsVersion === b.wordsVersion

import { type DocumentWords, indexText } from '#search/analysis/index'
import { begin } from '#shared/threads/clock'
import type { Timed } from '#shared/threads/threads'
import type { TokeniseTask } from './words.ts'

/** The work of a thread of the tokeniser. */
export default function tokenise({ begun, texts }: Timed<TokeniseTask>): DocumentWords[] {
  begin(begun)
  return texts.map(({ title, body }) => indexText(title, body))
}

import type { Listed } from './shown-article.ts'

const COMMA = Buffer.from(',')
const END = Buffer.from(']}')

/** Everything of a page but its articles. */
export interface PageHead {
  total: number
  estimate: boolean
  /** As JSON. */
  nextCursor: string
}

/** A page as `JSON.stringify` would write it, joined from the bytes of its articles. */
export function pageBody({ total, estimate, nextCursor }: PageHead, articles: readonly Listed[]): Buffer {
  const flag = estimate ? '"total_results_is_estimate":true,' : ''
  const parts = [Buffer.from(`{"status":"ok","total_results":${total},${flag}"next_cursor":${nextCursor},"articles":[`)]
  for (const article of articles) {
    if (parts.length > 1) parts.push(COMMA)
    addArticle(parts, article)
  }
  parts.push(END)
  return Buffer.concat(parts)
}

function addArticle(parts: Buffer[], { pieces, relevance }: Listed): void {
  const { bytes } = pieces.json
  if (relevance === undefined) parts.push(bytes)
  // The last field of the object, before its brace.
  else parts.push(bytes.subarray(0, -1), Buffer.from(`,"relevance":${JSON.stringify(relevance)}}`))
}

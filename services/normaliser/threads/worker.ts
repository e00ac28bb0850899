import type { StoredPage } from '../../../shared/pages/page.ts'
import { type Composition, composeArticle } from '../compose/article.ts'

/** What a thread is given. */
export interface ComposeTask {
  page: StoredPage
  now: Date
  /** See `composeArticle`. */
  repeated: boolean
}

/** The entrance of a thread: one page at a time. */
export default function compose({ page, now, repeated }: ComposeTask): Promise<Composition> {
  return composeArticle(page, now, { repeated })
}

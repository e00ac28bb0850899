import { prepareText } from '#search/indexing/new-article'
import type { StoredPage } from '#shared/outlets/page'
import { begin } from '#shared/threads/clock'
import type { Timed } from '#shared/threads/threads'
import { type ComposeOptions, type Composition, composeArticle } from './compose.ts'
import { loadModels } from './languages/detection.ts'

/** The input of a thread. */
export interface ComposeTask {
  page: StoredPage
  now: Date
  options: ComposeOptions
}

/**
 * Composes one page in a thread. The thread also splits the text into words. In the service, this
 * work would block the event loop.
 */
export default async function compose({
  begun,
  page,
  now,
  options,
}: Timed<ComposeTask>): Promise<Composition> {
  await loadModels()
  begin(begun)
  const composition = await composeArticle(page, now, options)
  if (composition.kind === 'refused') return composition
  return {
    ...composition,
    article: { ...composition.article, prepared: prepareText(composition.article) },
  }
}

import { gunzipFile } from '../../services/crawler/fetch/compression.ts'
import type { Config } from '../../shared/config/config.ts'
import { describe } from '../../shared/log/printable.ts'
import type { StoredPage } from '../../shared/outlets/page.ts'
import { openTrial } from '../outlets/trial.ts'

/**
 * Asks the outlet for a page once more, with the crawler's own manners: public addresses alone,
 * robots.txt first, a pause between two requests.
 *
 * @throws an error whose message says why there is no page
 */
export async function fetchPage(config: Config, page: StoredPage, signal: AbortSignal): Promise<StoredPage> {
  const trial = openTrial(config, signal)
  try {
    const { answer, url } = await trial.get(new URL(page.url))
    const body = answer.status < 300 ? await gunzipFile(answer.body, config.CRAWL_MAX_BYTES) : null
    return {
      ...{ ...page, finalUrl: url.href, status: answer.status, body, fetchedAt: new Date() },
      contentType: answer.headers['content-type'] ?? null,
    }
  } catch (error) {
    const reason = describe(error)
    throw new Error(`${page.url} cannot be fetched: ${reason}`, { cause: error })
  } finally {
    await trial.close()
  }
}

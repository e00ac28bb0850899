import { sentenceOf } from '../../shared/process/command.ts'
import { runService } from '../../shared/process/service.ts'
import { observeIndex, openApiIndex } from './search-index.ts'
import { openSemanticSearch } from './semantic/search.ts'
import { openApiPool, startApi } from './start.ts'
import { webBundle } from './web/pages.ts'

await runService('api', async ({ config, log }) => {
  const pool = openApiPool(config, log)
  const index = openApiIndex(pool, config)
  observeIndex(index)
  const api = await startApi(config, log, { pool, index, semantic: await openSemanticSearch(config, pool, index, log) })
  // Searches are answered already; whoever asks for a page meanwhile waits for it.
  webBundle().catch(error => log.error({ err: sentenceOf(error) }, 'could not make the pages'))
  return api
})

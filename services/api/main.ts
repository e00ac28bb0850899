import { openIndex } from '../../search/index.ts'
import { runService } from '../../shared/process/service.ts'
import { cacheSizesOf, observeIndex } from './search-index.ts'
import { openSemanticSearch } from './semantic/search.ts'
import { openApiPool, startApi } from './start.ts'

await runService('api', async ({ config, log }) => {
  const pool = openApiPool(config, log)
  const index = openIndex(pool, { caches: cacheSizesOf(config) })
  observeIndex(index)
  return startApi(config, log, { pool, index, semantic: await openSemanticSearch(config, pool, index, log) })
})

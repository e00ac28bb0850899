import { openIndex } from '../../search/index.ts'
import { runService } from '../../shared/process/service.ts'
import { openSemanticSearch } from './semantic/search.ts'
import { openApiPool, startApi } from './start.ts'

await runService('api', async ({ config, log }) => {
  const pool = openApiPool(config, log)
  const index = openIndex(pool)
  return startApi(config, log, { pool, index, semantic: await openSemanticSearch(config, pool, index, log) })
})

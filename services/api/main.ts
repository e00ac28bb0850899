import { runService } from '../../shared/process/service.ts'
import { openSemanticSearch } from './semantic/search.ts'
import { openApiPool, startApi } from './start.ts'

await runService('api', async ({ config, log }) => {
  const pool = openApiPool(config, log)
  return startApi(config, log, pool, await openSemanticSearch(config, pool, log))
})

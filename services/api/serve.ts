import { sentenceOf } from '../../shared/process/command.ts'
import { processNumber } from '../../shared/process/number.ts'
import type { ProcessContext, Running } from '../../shared/process/service.ts'
import { observeArchive } from '../../shared/status/machine-metrics.ts'
import { linkToPrimary } from './processes/handed-connections.ts'
import { openServers } from './reading/servers.ts'
import { observeIndex, openApiIndex } from './search-index.ts'
import { openSemanticSearch } from './semantic/search.ts'
import { startApi } from './start.ts'
import { webBundle } from './web/pages.ts'

/**
 * Serves the API, by itself or as one of several processes.
 *
 * @param processes that share the port with this one, itself included
 */
export async function serve(context: ProcessContext, processes: number): Promise<Running> {
  const { config, log } = context
  const primary = processNumber() === null ? null : linkToPrimary(context)
  const servers = openServers(config, log)
  const index = openApiIndex(servers, config, processes)
  observeIndex(index, config.OPENSEARCH_RECENT)
  observeArchive(config)
  const opened = { ...servers, index, semantic: await openSemanticSearch(config, servers.pool, index, log) }
  const api = await startApi(config, log, opened, primary?.door)
  if (primary) {
    primary.answerFor(api)
    void api.warm.then(primary.tellWarm)
  }
  // Searches are answered already; whoever asks for a page meanwhile waits for it.
  webBundle().catch(error => log.error({ err: sentenceOf(error) }, 'could not make the pages'))
  return api
}

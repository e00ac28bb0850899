import type { ArchiveSettings } from '#search/archive/client'
import type { Config } from './config.ts'
import { certificateRefusal, trustOf } from './tls.ts'

/** The settings of the archive. */
export type ArchiveConfig = Pick<
  Config,
  | 'OPENSEARCH_URL'
  | 'OPENSEARCH_USER'
  | 'OPENSEARCH_PASSWORD'
  | 'OPENSEARCH_INDEX'
  | 'SEARCH_TIMEOUT'
  | 'TLS_CA_FILE'
>

/**
 * @returns null: there is no archive
 */
export function archiveSettingsOf(config: ArchiveConfig): ArchiveSettings | null {
  const { OPENSEARCH_URL: nodes, OPENSEARCH_INDEX: prefix } = config
  if (nodes.length === 0) return null
  const { OPENSEARCH_USER: user, OPENSEARCH_PASSWORD: password, SEARCH_TIMEOUT: timeout } = config
  return {
    nodes,
    user,
    password,
    prefix,
    timeout,
    trust: trustOf(config),
    refusalOf: certificateRefusal,
  }
}

import type { ArchiveSettings } from '#search/archive/client'
import { certificateRefusal, trustOf } from './tls.ts'

/** The settings of the archive, as `readConfig` reads them from the environment. */
export interface ArchiveConfig {
  OPENSEARCH_URL: readonly string[]
  OPENSEARCH_USER: string
  OPENSEARCH_PASSWORD: string
  OPENSEARCH_INDEX: string
  SEARCH_TIMEOUT: number
  TLS_CA_FILE: string
}

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

import type { Config } from '../config/config.ts'

export type LayoutSettings = Partial<Pick<Config, 'QDRANT_SHARDS' | 'QDRANT_REPLICAS' | 'QDRANT_WRITE_CONSISTENCY'>>

/** How a collection lies on the nodes of a Qdrant cluster, in Qdrant's words. */
export interface Layout {
  shard_number: number
  replication_factor: number
  write_consistency_factor: number
}

/** The layout of new collections. */
export const layoutOf = ({
  QDRANT_SHARDS = 1,
  QDRANT_REPLICAS = 1,
  QDRANT_WRITE_CONSISTENCY = 1,
}: LayoutSettings): Layout => ({
  shard_number: QDRANT_SHARDS,
  replication_factor: QDRANT_REPLICAS,
  write_consistency_factor: QDRANT_WRITE_CONSISTENCY,
})

/** A sentence on a collection whose layout is not that of the settings. */
export function layoutWarning(collection: string, present: Layout, wanted: Layout): string {
  const said = (layout: Layout) =>
    `${layout.shard_number}, ${layout.replication_factor} and ${layout.write_consistency_factor}`
  return (
    `The collection ${collection} keeps the shards, copies and write consistency that it was made with ` +
    `(${said(present)}); QDRANT_SHARDS, QDRANT_REPLICAS and QDRANT_WRITE_CONSISTENCY say ${said(wanted)}. ` +
    'Set these back, or run `npm run reembed -- --all`, which makes a new collection.'
  )
}

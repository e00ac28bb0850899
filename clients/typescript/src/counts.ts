import type { ArticlesQuery, Outlet } from './contract.ts'

/** A search, and what its articles are counted by. */
export interface CountsQuery extends Omit<ArticlesQuery, 'order' | 'per_page'> {
  by: 'hour' | 'day' | 'week' | 'month' | 'outlet' | 'language' | 'country'
  /** IANA name of the zone in which hours, days, weeks and months begin; UTC by default. */
  time_zone?: string | undefined
}

export interface Count {
  key: string
  count: number
  /** With `by: 'outlet'`. */
  outlet?: Outlet
  /** The first and the last moment of a time, for `published_after` and `published_before`. */
  from?: string
  to?: string
}

/** What `/explore/counts` answers; it lies beside the contract. Fields may be added. */
export interface Counts {
  status: 'ok'
  by: CountsQuery['by']
  /** Of the buckets; only with counts by time. */
  time_zone?: string
  /** Articles that the search finds, exact. */
  total: number
  data: Count[]
  /** Articles of keys that are not listed. */
  other: number
  /** Articles without a time of publication. */
  undated: number
}

import { TIME_UNITS } from '../../../search/index.ts'
import { LIMITS, PARAMETERS, type Parameter } from '../contract/parameters.ts'

const { order: _order, per_page: _perPage, cursor: _cursor, sort, ...FILTERS } = PARAMETERS

/** Values of `by` that count by time. */
export const TIMES = TIME_UNITS

/**
 * The parameters of `/explore/counts`: those of `/v1/articles` without pages, and two of its own.
 */
export const COUNTS_PARAMETERS = {
  by: {
    kind: 'choice',
    values: [...TIMES, 'outlet', 'language', 'country'],
    about: 'Required. What to count by. `outlet` tells the 20 outlets with the most articles.',
  },
  time_zone: {
    kind: 'text',
    maxLength: 64,
    pattern: '^[A-Za-z0-9/_+-]*$',
    about:
      'IANA name of the time zone in which hours, days, weeks and months begin, as `Europe/Brussels`. UTC without it. Only with `by=hour`, `day`, `week` or `month`.',
  },
  ...FILTERS,
  sort: {
    ...sort,
    about:
      'As in `/v1/articles`. `ingested_at` leaves out articles without an ingestion time, and buckets of time are then those of ingestion.',
  },
} as const satisfies Record<string, Parameter>

const NO_PAGES = 'Counts have no pages; leave it out.'

/** Parameters of `/v1/articles` that counts do not take. */
export const COUNTS_REFUSALS: ReadonlyMap<string, string> = new Map([
  ['per_page', NO_PAGES],
  ['cursor', NO_PAGES],
  ['order', NO_PAGES],
])

/** The parameters of `/explore/suggestions`. */
export const SUGGESTIONS_PARAMETERS = {
  field: {
    kind: 'choice',
    values: ['outlet', 'author'],
    about: 'Required. The filter of `/v1/articles` that the name is for.',
  },
  q: {
    kind: 'text',
    maxLength: LIMITS.outlet,
    pattern: '^[^\\u0000]*$',
    about: "Required. Part of a name; case and accents don't matter, as in the filter.",
  },
} as const satisfies Record<string, Parameter>

/** Most names of an answer. */
export const MOST_SUGGESTIONS = 10

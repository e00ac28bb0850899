import type { Order, SearchMode, Sort } from '../../../services/api/contract/parameters.ts'
import { useSpeech } from '../../words/index.ts'
import { type FilterProps, Group } from './group.tsx'

const ORDERS = {
  best: ['relevance', 'desc'],
  newest: ['published_at', 'desc'],
  oldest: ['published_at', 'asc'],
  latest: ['ingested_at', 'desc'],
  earliest: ['ingested_at', 'asc'],
} as const satisfies Record<string, readonly [Sort, Order]>

type OrderName = keyof typeof ORDERS
const NAMES = Object.keys(ORDERS).filter((name): name is OrderName => name in ORDERS)
const DEFAULTS: Record<SearchMode, Sort> = { keyword: 'published_at', boolean: 'published_at', semantic: 'relevance' }

/** The order of the results, as one choice. */
export function Ordering({ search, errors, onChange }: FilterProps) {
  const { words } = useSpeech()
  const sort = search.sort ?? DEFAULTS[search.mode]
  const present = NAMES.find(name => ORDERS[name][0] === sort && ORDERS[name][1] === search.order) ?? 'newest'
  const possible = NAMES.filter(name => name !== 'best' || search.mode === 'semantic')
  return (
    <Group label={words.filters.sort} errors={errors.sort ?? errors.order}>
      <select
        aria-label={words.filters.sort}
        value={present}
        onChange={event => {
          const name = possible.find(one => one === event.currentTarget.value) ?? 'newest'
          const [chosen, order] = ORDERS[name]
          onChange({ sort: chosen === DEFAULTS[search.mode] ? null : chosen, order })
        }}
      >
        {possible.map(name => (
          <option key={name} value={name}>
            {words.filters.orders[name]}
          </option>
        ))}
      </select>
    </Group>
  )
}

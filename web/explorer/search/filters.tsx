import { LIMITS, type Order, type SearchMode, type Sort } from '../../../services/api/contract/parameters.ts'
import { COUNTRIES, LANGUAGES } from '../../../shared/articles/article.ts'
import { beginOf, dayOf, daysBefore, endOf } from '../../parts/time.ts'
import { useSpeech } from '../../words/index.ts'
import { Choice, type FilterProps, Group, NameField, Several } from './fields.tsx'
import type { Search } from './search.ts'

/** Everything that narrows a search besides its words. A change searches at once. */
export function Filters({
  search,
  errors,
  onChange,
  onClear,
  secret,
}: FilterProps & { secret: string; onClear(): void }) {
  const { words } = useSpeech()
  const count = countOf(search)
  return (
    <aside class="filters" aria-label={words.filters.title}>
      {/* Open where there is room for it, see the style. */}
      <details open={matchMedia('(min-width: 60rem)').matches}>
        <summary>
          {words.filters.title}
          {count > 0 && <span class="count">{words.filters.active(count)}</span>}
        </summary>
        {search.mode !== 'semantic' && (
          <Choice
            label={words.filters.searchIn}
            name="search_in"
            errors={errors.search_in}
            value={search.searchIn}
            options={[
              ['title_body', words.filters.inBoth],
              ['title', words.filters.inTitle],
            ]}
            onChoose={searchIn => onChange({ searchIn })}
          />
        )}
        <Ordering search={search} errors={errors} onChange={onChange} />
        <Dates search={search} errors={errors} onChange={onChange} />
        <Places search={search} errors={errors} onChange={onChange} />
        <NameField field="outlet" secret={secret} {...{ search, errors, onChange }} />
        <NameField field="author" secret={secret} {...{ search, errors, onChange }} />
        <HasAuthor search={search} errors={errors} onChange={onChange} />
        {count > 0 && (
          <button type="button" class="quiet" onClick={onClear}>
            {words.filters.clear}
          </button>
        )}
      </details>
    </aside>
  )
}

function countOf(search: Search): number {
  const { countries, languages, hasAuthor, outlet, author, publishedAfter, publishedBefore } = search
  const set = [countries.length > 0, languages.length > 0, hasAuthor !== null, outlet, author]
  return [...set, publishedAfter !== '' || publishedBefore !== ''].filter(Boolean).length
}

function Places({ search, errors, onChange }: FilterProps) {
  const { words } = useSpeech()
  return (
    <>
      <Several
        label={words.filters.country}
        errors={errors.country}
        values={COUNTRIES}
        chosen={search.countries}
        nameOf={country => words.countries[country]}
        onChoose={countries => onChange({ countries })}
      />
      <Several
        label={words.filters.language}
        errors={errors.language}
        values={LANGUAGES}
        chosen={search.languages}
        nameOf={language => words.languages[language]}
        onChoose={languages => onChange({ languages })}
      />
    </>
  )
}

function HasAuthor({ search, errors, onChange }: FilterProps) {
  const { words } = useSpeech()
  return (
    <Choice
      label={words.filters.hasAuthor}
      name="has_author"
      errors={errors.has_author}
      value={search.hasAuthor === null ? 'any' : search.hasAuthor ? 'true' : 'false'}
      options={[
        ['any', words.filters.either],
        ['true', words.filters.withAuthor],
        ['false', words.filters.withoutAuthor],
      ]}
      onChoose={value => onChange({ hasAuthor: value === 'any' ? null : value === 'true' })}
    />
  )
}

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
function Ordering({ search, errors, onChange }: FilterProps) {
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

/** Days back from today; `today` begins with this day. */
const PRESETS = { today: 0, week: 6, month: 29, year: 364 } as const
const PRESET_NAMES = ['today', 'week', 'month', 'year'] as const

/** The time of publication: usual spans, or two days from a calendar. */
function Dates({ search, errors, onChange }: FilterProps) {
  const { words } = useSpeech()
  const { publishedAfter, publishedBefore } = search
  const now = new Date()
  const problems = [...(errors.published_after ?? []), ...(errors.published_before ?? [])]
  return (
    <Group label={words.filters.dates} errors={problems.length > 0 ? problems : undefined}>
      <div class="presets">
        {PRESET_NAMES.map(name => {
          const begin = beginOf(daysBefore(now, PRESETS[name]))
          const isOn = publishedAfter === begin && publishedBefore === ''
          return (
            <button
              key={name}
              type="button"
              class="preset"
              aria-pressed={isOn}
              onClick={() => onChange({ publishedAfter: isOn ? '' : begin, publishedBefore: '' })}
            >
              {words.filters.presets[name]}
            </button>
          )
        })}
      </div>
      <div class="days">
        <DayField
          label={words.filters.from}
          bound={publishedAfter}
          isWrong={errors.published_after !== undefined}
          onDay={day => onChange({ publishedAfter: beginOf(day) })}
        />
        <DayField
          label={words.filters.to}
          bound={publishedBefore}
          isWrong={errors.published_before !== undefined}
          onDay={day => onChange({ publishedBefore: endOf(day) })}
        />
      </div>
    </Group>
  )
}

function DayField(props: { label: string; bound: string; isWrong: boolean; onDay(day: string): void }) {
  const { label, bound, isWrong, onDay } = props
  return (
    <label>
      {label}
      <input
        type="date"
        min={`${LIMITS.years.minimum}-01-01`}
        max={`${LIMITS.years.maximum}-12-31`}
        value={dayOf(bound)}
        aria-invalid={isWrong}
        onChange={event => onDay(event.currentTarget.value)}
      />
    </label>
  )
}

import type { TargetedEvent, VNode } from 'preact'
import { useRef, useState } from 'preact/hooks'
import { LIMITS } from '#services/api/contract/limits'
import type { Order, SearchMode, Sort } from '#services/api/contract/parameters'
import { COUNTRIES, LANGUAGES } from '#shared/articles/article'
import { Button, focusIfLost, Select, useLater } from '#web/parts/controls.tsx'
import { beginOf, dayOf, daysBefore, endOf } from '#web/parts/time'
import { useSpeech } from '#web/words/index'
import { Choice, type FilterProps, Group, NameField, switched } from './fields.tsx'
import { type Chip, chipsOf } from './in-words.ts'
import { useOutletNames } from './outlet-names.ts'
import type { Search } from './search.ts'

/**
 * All filters beside the words of the search. A change searches at once.
 *
 * @param props.found says what was found, where open filters hide the results; null: nothing yet
 */
export function Filters({ found, ...own }: FilterProps & { found: string | null }): VNode {
  const { search, errors, onChange } = own
  const { words, say, number } = useSpeech()
  const fold = useRef<HTMLDetailsElement>(null)
  const show = () => {
    fold.current?.removeAttribute('open')
    document.getElementById('results')?.focus()
  }
  const count = useChips(search).length
  // Decided once: a phone that is turned closes no form that somebody fills in.
  const [isOpen] = useState(() => matchMedia('(min-width: 60rem)').matches)
  return (
    <aside class="filters" aria-label={words.filters.title}>
      {/* The filters are open where the screen has room for them; see the style. */}
      <details ref={fold} open={isOpen}>
        <summary>
          {words.filters.title}
          {count > 0 && (
            <span class="pill">
              <span aria-hidden="true">{number(count)}</span>
              <span class="unseen">{say(words.filters.active, { n: count })}</span>
            </span>
          )}
        </summary>
        {search.mode !== 'semantic' && (
          <Choice
            label={words.filters.searchIn}
            name="search_in"
            errors={errors.search_in}
            chosen={[search.searchIn]}
            options={[
              ['title_body', words.filters.inBoth],
              ['title', words.filters.inTitle],
            ]}
            onChoose={searchIn => onChange({ searchIn })}
          />
        )}
        <Ordering {...own} />
        <Dates {...own} />
        <Choice
          type="checkbox"
          label={words.filters.country}
          name="country"
          errors={errors.country}
          chosen={search.countries}
          options={COUNTRIES.map(one => [one, words.countries[one]])}
          onChoose={country =>
            onChange({ countries: switched(COUNTRIES, search.countries, country) })
          }
        />
        <Choice
          type="checkbox"
          label={words.filters.language}
          name="language"
          errors={errors.language}
          chosen={search.languages}
          options={LANGUAGES.map(one => [one, words.languages[one]])}
          onChoose={language =>
            onChange({ languages: switched(LANGUAGES, search.languages, language) })
          }
        />
        <NameField field="outlet" {...own} />
        <SeveralOutlets {...own} />
        <NameField field="author" {...own} />
        <HasAuthor {...own} />
        <WhatOutletsSay {...own} />
        {found !== null && <Button class="primary found" onClick={show} text={found} />}
      </details>
    </aside>
  )
}

const loadOutlets = () => import('./outlets.tsx')

/** Filters that are folded away unless one of them is on. */
function useFold(isOn: boolean) {
  const [open, setOpen] = useState(isOn)
  return { open, onToggle: (event: FoldEvent) => setOpen(event.currentTarget.open) }
}
type FoldEvent = TargetedEvent<HTMLDetailsElement>

/** The filter for several outlets. Most searches have none, so it loads when it is opened. */
function SeveralOutlets(props: FilterProps) {
  const { search, errors, onChange } = props
  const { words, heard } = useSpeech()
  const fold = useFold(search.outlets !== '')
  const { Outlets } = useLater(fold.open, loadOutlets)
  return (
    <details class="group several" {...fold}>
      <summary>{words.sets.several}</summary>
      {Outlets !== undefined && fold.open && <Outlets {...{ search, onChange }} />}
      {errors.outlets !== undefined && (
        <p class="problem" role="alert">
          {heard(errors.outlets) ?? errors.outlets.join(' ')}
        </p>
      )}
    </details>
  )
}

const loadSaid = () => import('./said.tsx')

/** The filters by what outlets say of their articles, which load when they are opened. */
function WhatOutletsSay(props: FilterProps) {
  const { section, kinds, access } = props.search
  const { words } = useSpeech()
  const fold = useFold(section !== '' || kinds.length > 0 || access !== null)
  const { Said } = useLater(fold.open, loadSaid)
  return (
    <details class="group several" {...fold}>
      <summary>{words.filters.said}</summary>
      {Said !== undefined && fold.open && <Said {...props} />}
    </details>
  )
}

/** The active filters of a search, in the language of the page. */
export function useChips(search: Search): Chip[] {
  useOutletNames()
  return chipsOf(search, useSpeech())
}

/** The active filters, each with a button that removes it. */
export function ActiveFilters(props: {
  search: Search
  onChange(change: Partial<Search>): void
  onClear(): void
}): VNode | null {
  const { search, onChange, onClear } = props
  const { words, say } = useSpeech()
  const list = useRef<HTMLUListElement>(null)
  const chips = useChips(search)
  if (chips.length === 0) return null
  /** The chip at a place, or else the last one; without chips, the results. */
  const chipAt = (at: number) => () => {
    const left = list.current?.querySelectorAll<HTMLElement>('.chip') ?? []
    return left[Math.min(at, left.length - 1)] ?? document.getElementById('results')
  }
  return (
    <ul ref={list} class="row chips" aria-label={words.filters.on}>
      {chips.map(({ text, title, off }, at) => (
        <li key={text}>
          <button
            type="button"
            class="chip"
            title={title}
            onClick={() => {
              onChange(off)
              focusIfLost(chipAt(at))
            }}
          >
            <span class="unseen">{say(words.filters.remove, { name: '' })}</span>
            {text} <span aria-hidden="true">×</span>
          </button>
        </li>
      ))}
      <li>
        <Button
          class="quiet"
          onClick={() => {
            onClear()
            focusIfLost(chipAt(0))
          }}
          text={words.filters.clear}
        />
      </li>
    </ul>
  )
}

function HasAuthor({ search, errors, onChange }: FilterProps) {
  const { words } = useSpeech()
  return (
    <Choice
      label={words.filters.hasAuthor}
      name="has_author"
      errors={errors.has_author}
      chosen={[search.hasAuthor === null ? 'any' : search.hasAuthor ? 'true' : 'false']}
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
const DEFAULTS: Record<SearchMode, Sort> = {
  keyword: 'published_at',
  boolean: 'published_at',
  expression: 'published_at',
  semantic: 'relevance',
}

/** The order of the results, as one choice. */
function Ordering({ search, errors, onChange }: FilterProps) {
  const { words } = useSpeech()
  const sort = search.sort ?? DEFAULTS[search.mode]
  const present =
    NAMES.find(name => ORDERS[name][0] === sort && ORDERS[name][1] === search.order) ?? 'newest'
  const possible = NAMES.filter(name => name !== 'best' || search.mode === 'semantic')
  return (
    <Group label={words.filters.sort} errors={errors.sort ?? errors.order}>
      <Select
        aria-label={words.filters.sort}
        value={present}
        options={possible.map(name => [name, words.filters.orders[name]])}
        onChoose={name => {
          const [chosen, order] = ORDERS[name]
          onChange({ sort: chosen === DEFAULTS[search.mode] ? null : chosen, order })
        }}
      />
    </Group>
  )
}

/** How many days before today each span begins. */
const PRESETS = { today: 0, week: 6, month: 29, year: 364 } as const
const PRESET_NAMES = ['today', 'week', 'month', 'year'] as const

/** The time of publication: common spans, or two days from a calendar. */
function Dates({ search, errors, onChange }: FilterProps) {
  const { words } = useSpeech()
  const { publishedAfter, publishedBefore } = search
  const now = new Date()
  const problems = [...(errors.published_after ?? []), ...(errors.published_before ?? [])]
  const isReversed = problems.length > 0 && Date.parse(publishedAfter) > Date.parse(publishedBefore)
  const swap = () =>
    onChange({
      publishedAfter: beginOf(dayOf(publishedBefore)),
      publishedBefore: endOf(dayOf(publishedAfter)),
    })
  return (
    <Group
      label={words.filters.dates}
      errors={problems.length > 0 ? problems : undefined}
      wrong={isReversed ? 'reversed' : 'dates'}
      mend={isReversed && <Button class="link" onClick={swap} text={words.filters.swap} />}
    >
      <div class="row presets">
        {PRESET_NAMES.map(name => {
          const begin = beginOf(daysBefore(now, PRESETS[name]))
          const isOn = publishedAfter === begin && publishedBefore === ''
          return (
            <Button
              key={name}
              class="chip"
              aria-pressed={isOn}
              onClick={() => onChange({ publishedAfter: isOn ? '' : begin, publishedBefore: '' })}
              text={words.filters.presets[name]}
            />
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

function DayField(props: {
  label: string
  bound: string
  isWrong: boolean
  onDay(day: string): void
}) {
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

import { useSpeech } from '../../words/index.ts'
import { beginOf, dayOf, daysBefore, endOf } from './days.ts'
import { type FilterProps, Group } from './group.tsx'

/** Days back from today; `today` begins with this day. */
const PRESETS = { today: 0, week: 6, month: 29, year: 364 } as const
const PRESET_NAMES = ['today', 'week', 'month', 'year'] as const

/** The time of publication: usual spans, or two days from a calendar. */
export function Dates({ search, errors, onChange }: FilterProps) {
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
        <label>
          {words.filters.from}
          <input
            type="date"
            min="1900-01-01"
            max="2100-12-31"
            value={dayOf(publishedAfter)}
            aria-invalid={errors.published_after !== undefined}
            onChange={event => onChange({ publishedAfter: beginOf(event.currentTarget.value) })}
          />
        </label>
        <label>
          {words.filters.to}
          <input
            type="date"
            min="1900-01-01"
            max="2100-12-31"
            value={dayOf(publishedBefore)}
            aria-invalid={errors.published_before !== undefined}
            onChange={event => onChange({ publishedBefore: endOf(event.currentTarget.value) })}
          />
        </label>
      </div>
    </Group>
  )
}

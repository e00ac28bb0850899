import { LIMITS } from '../../../services/api/contract/parameters.ts'
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

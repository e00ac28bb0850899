import type { VNode } from 'preact'
import { LIMITS } from '../../../services/api/contract/parameters.ts'
import { ACCESSES, KINDS } from '../../../shared/articles/article.ts'
import { useSpeech } from '../../words/index.ts'
import { Choice, type FilterProps, Group, switched } from './fields.tsx'

/** Filters by section, kind and access, as outlets say them. */
export function Said({ search, errors, onChange }: FilterProps): VNode {
  const { filters } = useSpeech().words
  return (
    <>
      <Group label={filters.section} errors={errors.section} wrong="name">
        <input
          type="text"
          aria-label={filters.section}
          maxLength={LIMITS.section}
          placeholder={filters.sectionHint}
          value={search.section}
          onChange={event => onChange({ section: event.currentTarget.value.trim() })}
        />
      </Group>
      <Choice
        type="checkbox"
        label={filters.kind}
        name="kind"
        errors={errors.kind}
        chosen={search.kinds}
        options={KINDS.map(one => [one, filters.kinds[one]])}
        onChoose={kind => onChange({ kinds: switched(KINDS, search.kinds, kind) })}
      />
      <Choice
        label={filters.access}
        name="access"
        errors={errors.access}
        chosen={[search.access ?? 'any']}
        options={(['any', ...ACCESSES] as const).map(one => [one, filters.accesses[one]])}
        onChoose={access => onChange({ access: ACCESSES.find(one => one === access) ?? null })}
      />
      <p class="hint">{filters.saidHint}</p>
    </>
  )
}

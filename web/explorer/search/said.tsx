import type { VNode } from 'preact'
import { LIMITS } from '#services/api/contract/limits'
import { ACCESSES, KINDS } from '#shared/articles/article'
import { useSpeech } from '#web/words/index'
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
        type="checkbox"
        label={filters.access}
        name="access"
        errors={errors.access}
        chosen={search.access === null ? [] : [search.access]}
        options={ACCESSES.map(one => [one, filters.accesses[one]])}
        onChoose={access => onChange({ access: access === search.access ? null : access })}
      />
    </>
  )
}

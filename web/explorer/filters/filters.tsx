import { COUNTRIES, LANGUAGES } from '../../../shared/articles/article.ts'
import { useSpeech } from '../../words/index.ts'
import type { Search } from '../search/search.ts'
import { Choice, Several } from './choices.tsx'
import { Dates } from './dates.tsx'
import type { FilterProps } from './group.tsx'
import { NameField } from './name-field.tsx'
import { Ordering } from './ordering.tsx'

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

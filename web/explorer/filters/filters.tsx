import { COUNTRIES, LANGUAGES } from '../../../shared/articles/article.ts'
import { useSpeech } from '../../words/index.ts'
import type { Search } from '../search/search.ts'
import { Dates } from './dates.tsx'
import { type FilterProps, Group } from './group.tsx'
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
        <NameField field="outlet" secret={secret} {...{ search, errors, onChange }} />
        <NameField field="author" secret={secret} {...{ search, errors, onChange }} />
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

function Choice<V extends string>(props: {
  label: string
  name: string
  errors: string[] | undefined
  value: V
  options: readonly (readonly [value: V, label: string])[]
  onChoose(value: V): void
}) {
  const { label, name, errors, value, options, onChoose } = props
  return (
    <Group label={label} errors={errors}>
      <div class="choices">
        {options.map(([one, text]) => (
          <label key={one} class="choice">
            <input type="radio" name={name} checked={one === value} onChange={() => onChoose(one)} />
            <span>{text}</span>
          </label>
        ))}
      </div>
    </Group>
  )
}

/** Any of the values; none chosen means all of them. */
function Several<V extends string>(props: {
  label: string
  errors: string[] | undefined
  values: readonly V[]
  chosen: V[]
  nameOf(value: V): string
  onChoose(chosen: V[]): void
}) {
  const { label, errors, values, chosen, nameOf, onChoose } = props
  return (
    <Group label={label} errors={errors}>
      <div class="choices">
        {values.map(value => (
          <label key={value} class="choice">
            <input
              type="checkbox"
              checked={chosen.includes(value)}
              onChange={() => onChoose(values.filter(one => (one === value) !== chosen.includes(one)))}
            />
            <span>{nameOf(value)}</span>
          </label>
        ))}
      </div>
    </Group>
  )
}

import type { RefObject } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { LIMITS, type SearchMode } from '../../../services/api/contract/parameters.ts'
import { Segments } from '../../parts/controls.tsx'
import { useSpeech } from '../../words/index.ts'
import { type Hint, type Reading, readQuery } from './reading.ts'
import { type Draft, MODES } from './search.ts'

/** Where a slash is a letter. */
const TYPED_INTO = 'input:not([type="radio"], [type="checkbox"]), select, textarea'

/**
 * The search box with its three modes, and below it how the query is read, while it is typed.
 *
 * @param onMode searches at once, where there is something to search
 * @param errors what the API said about `q`
 */
export function SearchForm(props: {
  draft: Draft
  /** The box has the focus from the beginning. */
  isFocused: boolean
  isTried: boolean
  errors: string[]
  onType(q: string): void
  onMode(mode: SearchMode): void
  onSearch(): void
}) {
  const { words } = useSpeech()
  const { draft, isFocused, isTried, errors, onType, onMode, onSearch } = props
  const field = useRef<HTMLInputElement>(null)
  const reading: Reading = readQuery(draft)
  const isWrong = errors.length > 0 || (reading.kind === 'problem' && (draft.q !== '' || isTried))

  useSlash(field)
  useEffect(() => {
    if (isFocused) field.current?.focus()
  }, [isFocused])

  return (
    <search class="search">
      <form
        onSubmit={event => {
          event.preventDefault()
          onSearch()
        }}
      >
        <h1 class="unseen">{words.search.title}</h1>
        <div class="box">
          <label class="unseen" for="q">
            {words.search.label}
          </label>
          <input
            ref={field}
            id="q"
            type="search"
            enterkeyhint="search"
            autocomplete="off"
            spellcheck={false}
            maxLength={2 * LIMITS.q}
            value={draft.q}
            placeholder={words.search.placeholder[draft.mode]}
            aria-describedby="reading"
            aria-invalid={isWrong}
            onInput={event => onType(event.currentTarget.value)}
          />
          <button type="submit" class="primary">
            {words.search.go}
          </button>
        </div>
        <Segments
          label={words.search.modes}
          name="mode"
          values={MODES}
          value={draft.mode}
          nameOf={mode => words.search.mode[mode]}
          about={words.search.modeAbout}
          onChoose={onMode}
        />
        <div id="reading" class="reading" aria-live="polite">
          {errors.length > 0 && reading.kind !== 'problem' ? (
            <p class="problem">{words.reading.refused}</p>
          ) : (
            <ReadingLine reading={reading} draft={draft} isTried={isTried} onMode={onMode} />
          )}
        </div>
      </form>
    </search>
  )
}

/** As on many sites, "/" leads to the search from anywhere but a field. */
function useSlash(field: RefObject<HTMLInputElement | null>): void {
  useEffect(() => {
    const jump = (event: KeyboardEvent) => {
      if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey) return
      if (event.target instanceof Element && event.target.closest(TYPED_INTO)) return
      event.preventDefault()
      field.current?.focus()
      field.current?.select()
    }
    addEventListener('keydown', jump)
    return () => removeEventListener('keydown', jump)
  }, [field])
}

/**
 * How the query is read, in a line; with what looks like an operator and is none.
 *
 * @param isTried it was searched for: an empty field is then a mistake, too
 */
function ReadingLine({
  reading,
  draft,
  isTried,
  onMode,
}: {
  reading: Reading
  draft: Draft
  isTried: boolean
  onMode(mode: SearchMode): void
}) {
  const { words } = useSpeech()
  switch (reading.kind) {
    case 'everything':
      return <p>{words.search.modeAbout[draft.mode]}</p>
    case 'meaning':
      return <p>{words.reading.meaning}</p>
    case 'problem':
      return draft.q === '' && !isTried ? (
        <p>{words.search.modeAbout[draft.mode]}</p>
      ) : (
        <p class="problem">{words.reading.problem[reading.problem]}</p>
      )
    case 'any':
      return (
        <>
          <p>
            {words.reading.any} <List words={reading.words} />
          </p>
          <Hints hints={reading.hints} mode="keyword" onMode={onMode} />
        </>
      )
    case 'all':
      return (
        <>
          <p>
            {words.reading.all} <List words={reading.required} />
            {reading.excluded.length > 0 && (
              <>
                {'; '}
                {words.reading.not} <List words={reading.excluded} />
              </>
            )}
          </p>
          <Hints hints={reading.hints} mode="boolean" onMode={onMode} />
        </>
      )
  }
}

const List = ({ words }: { words: string[] }) => (
  <>
    {words.map((word, index) => (
      <>
        {index > 0 && ', '}
        <b key={word}>{word}</b>
      </>
    ))}
  </>
)

function Hints({
  hints,
  mode,
  onMode,
}: {
  hints: Hint[]
  mode: 'keyword' | 'boolean'
  onMode(mode: SearchMode): void
}) {
  const { words } = useSpeech()
  const said = words.reading.hint
  const other = mode === 'keyword' ? 'boolean' : 'keyword'
  return (
    <>
      {hints.map(hint => (
        <p key={hint.kind} class="hint">
          {hint.kind === 'operator' ? said.operator(hint.word) : said[hint.kind]}{' '}
          {helps(hint, mode) && (
            <button type="button" class="link" onClick={() => onMode(other)}>
              {mode === 'keyword' ? said.useBoolean : said.useKeyword}
            </button>
          )}
        </p>
      ))}
    </>
  )
}

/** Whether the other mode does what was probably meant. */
function helps(hint: Hint, mode: 'keyword' | 'boolean'): boolean {
  if (hint.kind === 'ignoredQuotes' || hint.kind === 'ignoredMinus') return true
  if (hint.kind !== 'operator') return false
  const meansOr = /^(or|of|ou|oder|\|\|)$/i.test(hint.word)
  return mode === 'boolean' ? meansOr : !meansOr
}

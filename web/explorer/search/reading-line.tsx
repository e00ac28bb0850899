import type { SearchMode } from '../../../services/api/contract/parameters.ts'
import { useSpeech } from '../../words/index.ts'
import type { Hint, Reading } from './reading.ts'
import type { Draft } from './search.ts'

/**
 * How the query is read, in a line; with what looks like an operator and is none.
 *
 * @param isTried it was searched for: an empty field is then a mistake, too
 */
export function ReadingLine({
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

import type { RefObject, VNode } from 'preact'
import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { operatorsMeant, sentencesOf } from '#search/browser'
import { LIMITS } from '#services/api/contract/limits'
import type { SearchMode } from '#services/api/contract/parameters'
import {
  Button,
  focusIfLost,
  Segments,
  Unfolding,
  useEvent,
  useLater,
  useStateOf,
  useTitle,
} from '#web/parts/controls.tsx'
import type { Failure } from '#web/parts/request'
import { useSpeech } from '#web/words/index'
import { CountFailure, useMeaning } from './insights/counts.tsx'
import { ResultList } from './list.tsx'
import { ActiveFilters, Filters } from './search/filters.tsx'
import { type Hint, type Reading, readQuery } from './search/reading.ts'
import {
  type Draft,
  isSame,
  MODES,
  NEW_SEARCH,
  ONCE,
  readSearch,
  type Search,
} from './search/search.ts'
import { type First, type LoadedResults, useFresh, useResults } from './search/use-results.ts'
import {
  NEWS,
  notedPlace,
  notePlace,
  parametersHere,
  RESULTS,
  type ReadingPlace,
  viewOf,
} from './search/view.ts'

/*
 * The address holds the state: a search is written there, and every part of the page is drawn from
 * it. Only the text that is being typed is stored elsewhere.
 */

const loadFigures = () => import('./insights/timeline.tsx')
const loadPartWords = () => import('./search/part-words.tsx')

/** The search, the content of the box, and functions that change them. */
function useDraftedSearch() {
  const [search, setSearch] = useSearch()
  const [draft, setDraft] = useStateOf<Draft>(search, { q: search.q, mode: search.mode })
  const [round, setRound] = useState(0)
  const again = useCallback(() => setRound(before => before + 1), [])
  const change = useCallback(
    (changed: Partial<Search>) => {
      const ofItsMode =
        changed.mode === undefined ? changed : { ...changed, ...ofMode(search, changed.mode) }
      setSearch({ ...search, q: draft.q.trim(), mode: draft.mode, ...ofItsMode })
    },
    [search, draft, setSearch],
  )
  const isSearched = draft.q.trim() === search.q && draft.mode === search.mode
  return {
    search,
    draft,
    round,
    again,
    change,
    isSearched,
    type: (q: string) => setDraft({ ...draft, q }),
    chooseMode(mode: SearchMode) {
      setDraft({ ...draft, mode })
      if (readQuery({ ...draft, mode }).kind !== 'problem') change({ mode })
    },
    // The same search, submitted again, is requested again.
    submit: () => (isSearched ? again() : change({})),
    clear: () => setSearch({ ...NEW_SEARCH, q: search.q, mode: search.mode }),
  }
}

/** A change of mode, with an order that fits: only semantic search can order by closeness. */
function ofMode(search: Search, mode: SearchMode): Partial<Search> {
  return {
    mode,
    sort: mode === 'semantic' || search.sort === 'relevance' ? null : search.sort,
    order: 'desc',
  }
}

/**
 * The search with a key: box, filters, results, figures.
 *
 * @param props.first the first page of the search, if the test of the key has loaded it
 * @param props.isPasted the key came from the form, which had the focus until now
 */
export function SearchPage(props: {
  first: First | null
  isPasted: boolean
  onForget(): void
}): VNode {
  const { first, isPasted, onForget } = props
  const { words, say, number } = useSpeech()
  const { search, draft, round, again, change, isSearched, type, chooseMode, submit, clear } =
    useDraftedSearch()
  // A query that cannot be read is not sent. The line below the box gives the reason.
  const asked = useMemo(() => (readQuery(search).kind === 'problem' ? null : search), [search])
  const results = useResults(asked, round, first)
  const fresh = useFresh(results.of, results.quota)
  const errors = results.failure?.errors ?? {}
  const [isOnce, switchOnce] = useOnce()
  const showFresh = () => {
    scrollTo({ top: 0 })
    // Its button goes when the results come.
    document.getElementById('results')?.focus({ preventScroll: true })
    again()
  }
  const { failed, ...counting } = useCounting()
  const figures = { search: results.of, onChange: change, ...counting.figures }
  usePlace(results)
  // They are on their way while the first results are.
  const { Timeline, Breakdown } = useLater(asked !== null, loadFigures)
  const { PartWords } = useLater(search.mode === 'expression', loadPartWords)
  const { meaning, isOld } = useMeaning(results.of)
  // Without results, no heading of figures is shown. Where nothing is close in meaning, figures
  // would count what may be about anything; until that is known, they would be paid for nothing.
  const hasFigures = results.total > 0 && !isOld && meaning?.close !== 0
  const n = meaning?.close || results.total
  const found =
    results.of === null
      ? null
      : results.loading === 'first'
        ? words.results.searching
        : say(words.filters.show, { n: number(n) + (results.estimate ? '+' : '') }, n)
  const dimmed = results.loading === 'first' ? ' stale' : ''
  useTitle(search.q || words.search.title)
  return (
    <main class="explorer wide">
      <SearchForm
        draft={draft}
        isFocused={isPasted}
        isTried={asked === null && isSearched}
        errors={errors.q ?? []}
        onType={type}
        onMode={chooseMode}
        onMeant={q => change({ q, mode: 'expression' })}
        onSearch={submit}
      />
      <div class="columns">
        <Filters {...{ search, errors, found }} onChange={change} />
        <div class="main-column">
          <ActiveFilters search={search} onChange={change} onClear={clear} />
          {PartWords && <PartWords search={results.of} />}
          {hasFigures && failed !== null && (
            <CountFailure failure={failed} onAgain={counting.again} />
          )}
          {hasFigures && (
            <Unfolding
              className={`timeline-place${dimmed}`}
              title={words.insights.timeline}
              minWidth="60rem"
            >
              {Timeline && <Timeline {...figures} texts={isOnce} />}
            </Unfolding>
          )}
          <ResultList
            {...{ results, fresh, onForget, isOnce }}
            onOnce={switchOnce}
            onFresh={showFresh}
            onAgain={again}
            onChange={change}
          />
        </div>
        {hasFigures && (
          <aside class="insights" aria-label={words.insights.title}>
            <Unfolding
              className={`breakdowns${dimmed}`}
              title={words.insights.title}
              minWidth="76rem"
            >
              {Breakdown &&
                (['outlet', 'language', 'country'] as const).map(by => (
                  <Breakdown key={by} by={by} {...figures} />
                ))}
            </Unfolding>
          </aside>
        )}
      </div>
    </main>
  )
}

/** Whether each text is shown once. The address says so, so a link and a reload keep it. */
function useOnce(): [isOnce: boolean, switchOnce: () => void] {
  const read = () => parametersHere().has(ONCE)
  const [isOnce, setOnce] = useState(read)
  useEvent('popstate', () => setOnce(read()))
  const turn = () => {
    const here = readSearch(parametersHere())
    history.replaceState(null, '', viewOf(here, { [ONCE]: isOnce ? [] : ['true'] }))
    setOnce(!isOnce)
  }
  return [isOnce, turn]
}

/**
 * The search in the address bar. Each change is a step of the browser's history, so back, forward
 * and sharing work.
 */
function useSearch(): [Search, (changed: Search) => void] {
  const [search, setSearch] = useState(() => readSearch(parametersHere()))
  // A link to a place of the page is a step of the history, too.
  useEvent('popstate', () => {
    const here = readSearch(parametersHere())
    setSearch(before => (isSame(before, here) ? before : here))
  })
  const change = useCallback((changed: Search) => {
    setSearch(before => {
      if (isSame(before, changed)) return before
      const isOrdered = changed.sort !== before.sort || changed.order !== before.order
      history.pushState(null, '', viewOf(changed, isOrdered ? { [NEWS]: [] } : {}))
      return changed
    })
  }, [])
  return [search, change]
}

/**
 * Keeps the failures of all figures, and the round in which figures are counted. The page shows one
 * failure.
 */
function useCounting() {
  const [round, setRound] = useState(0)
  const [failures, setFailures] = useState<Record<string, Failure | null>>({})
  const onFailure = useCallback((by: string, failure: Failure | null) => {
    setFailures(before => ({ ...before, [by]: failure }))
  }, [])
  const failed = Object.values(failures).find(failure => failure !== null) ?? null
  return { failed, figures: { round, onFailure }, again: () => setRound(before => before + 1) }
}

/** The most articles that a reload loads again, because each page of them costs a search. */
const MOST_RELOADED = 250

/**
 * A reload and the way back from an article keep the place of the reader: the page loads the same
 * articles again, page after page, and scrolls to the place.
 */
function usePlace({ of, articles, next, failure, loadMore }: LoadedResults): void {
  const wanted = useRef(placeBefore())
  useEffect(() => {
    // The browser itself would scroll to a place that is not loaded yet.
    if (wanted.current !== null) history.scrollRestoration = 'manual'
  }, [])
  useEvent('pagehide', () => {
    const all = cards()
    const focused = all.findIndex(card => card.contains(document.activeElement))
    const at = focused >= 0 ? focused : all.findIndex(card => topOf(card) >= 0)
    const card = all[at]
    notePlace({
      address: location.search,
      shown: scrollY === 0 ? 0 : articles.length,
      id: card?.dataset.id ?? '',
      at,
      top: card === undefined ? 0 : topOf(card),
    })
  })
  useEffect(() => {
    const place = wanted.current
    if (place === null || of === null) return
    const isOther = place.address !== location.search || failure !== null
    if (!isOther && next !== null && articles.length < Math.min(place.shown, MOST_RELOADED))
      return loadMore()
    wanted.current = null
    history.scrollRestoration = 'auto'
    const all = cards()
    const card = all.find(({ dataset }) => dataset.id === place.id) ?? all[place.at]
    if (isOther || card === undefined) return
    // One scroll is enough: when the figures above the cards appear later, the browser itself keeps
    // the card in view.
    if (place.shown > 0) scrollBy({ top: topOf(card) - place.top })
    if (location.hash === RESULTS)
      card.querySelector<HTMLElement>('.source a')?.focus({ preventScroll: true })
  }, [of, articles, next, failure, loadMore])
}

const cards = () => [...document.querySelectorAll<HTMLElement>('article.card')]
const topOf = (card: HTMLElement) => card.getBoundingClientRect().top

/**
 * The reader's place before a reload, a step of the history or an article; null: the page was
 * opened anew.
 */
function placeBefore(): ReadingPlace | null {
  const [navigation] = performance.getEntriesByType('navigation')
  if (!(navigation instanceof PerformanceNavigationTiming)) return null
  return navigation.type === 'navigate' && location.hash !== RESULTS ? null : notedPlace()
}

/** Fields in which a slash is an ordinary letter. */
const TYPED_INTO = 'input:not([type="radio"], [type="checkbox"]), select, textarea'

/**
 * The search box with its modes. Below it, a line says how the query is read while it is typed.
 *
 * @param onMode chooses a mode, and searches at once if the text can be read in that mode
 * @param onMeant searches for an expression in place of the written one
 * @param errors sentences of the API about `q`
 */
function SearchForm(props: {
  draft: Draft
  /** Whether the box has the focus at first. */
  isFocused: boolean
  isTried: boolean
  errors: string[]
  onType(q: string): void
  onMode(mode: SearchMode): void
  onMeant(q: string): void
  onSearch(): void
}) {
  const { words, heard } = useSpeech()
  const { draft, isFocused, isTried, errors, onType, onMode, onMeant, onSearch } = props
  const field = useRef<HTMLInputElement>(null)
  const reading: Reading = readQuery(draft)
  const isUnread = reading.kind === 'problem' || reading.kind === 'misread'
  const isWrong = errors.length > 0 || (isUnread && (draft.q !== '' || isTried))

  const { Syntax } = useLater(draft.mode === 'expression', loadPartWords)
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
            maxLength={2 * LIMITS.expression}
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
          {errors.length > 0 && !isUnread ? (
            <p class="problem">
              {words.reading.refused} {heard(errors) ?? errors.join(' ')}
            </p>
          ) : (
            <ReadingLine
              {...{ reading, draft, isTried }}
              onMode={mode => {
                onMode(mode)
                focusIfLost(() => field.current)
              }}
              onMeant={q => {
                onMeant(q)
                focusIfLost(() => field.current)
              }}
            />
          )}
        </div>
        {draft.mode === 'expression' && Syntax && <Syntax />}
      </form>
    </search>
  )
}

/** As on many sites, "/" moves the focus to the search, except in a field. */
function useSlash(field: RefObject<HTMLInputElement | null>): void {
  useEvent('keydown', event => {
    if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey) return
    if (event.target instanceof Element && event.target.closest(TYPED_INTO)) return
    event.preventDefault()
    field.current?.focus()
    field.current?.select()
  })
}

/**
 * A line that says how the query is read, and which parts only look like operators.
 *
 * @param isTried whether the reader has tried to search; only then is an empty field a mistake
 */
function ReadingLine(props: {
  reading: Reading
  draft: Draft
  isTried: boolean
  onMode(mode: SearchMode): void
  onMeant(q: string): void
}) {
  const { reading, draft, isTried, onMode, onMeant } = props
  const { words, say } = useSpeech()
  const about = <p>{words.search.modeAbout[draft.mode]}</p>
  switch (reading.kind) {
    case 'everything':
      return about
    case 'meaning':
      return <p>{words.reading.meaning}</p>
    case 'tree': {
      const { meant } = reading
      return (
        <>
          <p>
            {words.reading.tree} <b>{reading.text}</b>
          </p>
          {meant !== null && (
            <p class="hint">
              <Button
                class="link"
                onClick={() => onMeant(meant)}
                text={say(words.reading.hint.meant, { q: meant })}
              />
            </p>
          )}
        </>
      )
    }
    case 'misread': {
      const signs = [...reading.q]
      const { at } = reading.misread
      return (
        <p class="problem">
          <span class="misread">
            {signs.slice(0, at - 1).join('')}
            <mark>{signs[at - 1]}</mark>
            {signs.slice(at).join('')}
          </span>
          {sentencesOf(reading.misread, words.reading.expression).join(' ')}
        </p>
      )
    }
    case 'problem':
      return draft.q === '' && !isTried ? (
        about
      ) : (
        <p class="problem">{words.reading.problem[reading.problem]}</p>
      )
    case 'any':
    case 'all':
      return (
        <>
          <p>
            {words.reading[reading.kind]} <List words={reading.wanted} />
            {reading.excluded.length > 0 && (
              <>
                {'; '}
                {words.reading.not} <List words={reading.excluded} />
              </>
            )}
          </p>
          <Hints {...{ reading, draft, onMode, onMeant }} />
        </>
      )
  }
}

const List = ({ words }: { words: string[] }) => (
  <>{words.flatMap((word, index) => [index > 0 && ', ', <b key={word}>{word}</b>])}</>
)

function Hints(props: {
  reading: { hints: Hint[] }
  draft: Draft
  onMode(mode: SearchMode): void
  onMeant(q: string): void
}) {
  const { reading, draft, onMode, onMeant } = props
  const { words, say } = useSpeech()
  const said = words.reading.hint
  const { hints } = reading
  // One button is enough for several hints.
  const last = hints.findLast(({ kind }) => kind === 'operator' || kind === 'wildcard')
  return (
    <>
      {hints.map(hint => (
        <p key={hint.kind} class="hint">
          {hint.kind === 'operator' ? say(said.operator, { word: hint.word }) : said[hint.kind]}{' '}
          {hint === last && (
            <Button
              class="link"
              onClick={() => onMeant(operatorsMeant(draft.q) ?? draft.q)}
              text={said.useExpression}
            />
          )}
          {hint.kind === 'ignored' && (
            <Button class="link" onClick={() => onMode('boolean')} text={said.useBoolean} />
          )}
        </p>
      ))}
    </>
  )
}

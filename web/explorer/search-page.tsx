import { useCallback, useContext, useEffect, useMemo, useState } from 'preact/hooks'
import type { SearchMode } from '../../services/api/contract/parameters.ts'
import { KeyTaker, Unfolding } from '../parts/controls.tsx'
import { useSpeech } from '../words/index.ts'
import { Breakdown } from './insights/breakdown.tsx'
import { Timeline } from './insights/timeline.tsx'
import { ResultList } from './results/list.tsx'
import { type First, useFresh, useResults } from './results/use-results.ts'
import { ActiveFilters, Filters } from './search/filters.tsx'
import { readQuery } from './search/reading.ts'
import { addressOf, type Draft, isSame, NEW_SEARCH, readSearch, type Search } from './search/search.ts'
import { SearchForm } from './search/search-form.tsx'

/** What is searched for, what stands in the box, and the ways from one to the other. */
function useDraftedSearch() {
  const [search, setSearch] = useSearch()
  const [draft, setDraft] = useState<Draft>({ q: search.q, mode: search.mode })
  const [round, setRound] = useState(0)
  useEffect(() => setDraft({ q: search.q, mode: search.mode }), [search])
  const again = useCallback(() => setRound(before => before + 1), [])
  const change = useCallback(
    (changed: Partial<Search>) => {
      const ofItsMode = changed.mode === undefined ? changed : { ...changed, ...ofMode(search, changed.mode) }
      setSearch({ ...search, q: draft.q.trim(), mode: draft.mode, ...ofItsMode })
    },
    [search, draft, setSearch],
  )
  const takeKey = useContext(KeyTaker)
  const isSearched = draft.q.trim() === search.q && draft.mode === search.mode
  return {
    search,
    draft,
    round,
    again,
    change,
    isSearched,
    type: (q: string) => setDraft({ ...draft, q: takeKey(q) ? '' : q }),
    chooseMode(mode: SearchMode) {
      setDraft({ ...draft, mode })
      if (readQuery({ ...draft, mode }).kind !== 'problem') change({ mode })
    },
    // The same search once more is asked for anew.
    submit: () => (isSearched ? again() : change({})),
    clear: () => setSearch({ ...NEW_SEARCH, q: search.q, mode: search.mode }),
  }
}

/** What goes with a mode: closeness is an order of semantic search alone. */
function ofMode(search: Search, mode: SearchMode): Partial<Search> {
  return { mode, sort: mode === 'semantic' || search.sort === 'relevance' ? null : search.sort, order: 'desc' }
}

/**
 * The search with a key: box, filters, results, figures.
 *
 * @param props.first its first page, where the trial of the key has brought it
 * @param props.isPasted the key came from the form, which had the focus until now
 */
export function SearchPage(props: { secret: string; first: First | null; isPasted: boolean; onForget(): void }) {
  const { secret, first, isPasted, onForget } = props
  const { words } = useSpeech()
  const { search, draft, round, again, change, isSearched, type, chooseMode, submit, clear } = useDraftedSearch()
  // A query that cannot be read is not sent: the line below the box says why.
  const asked = useMemo(() => (readQuery(search).kind === 'problem' ? null : search), [search])
  const results = useResults(asked, secret, round, first)
  const fresh = useFresh(results.of, secret, results.quota)
  const errors = results.failure?.errors ?? {}
  const showFresh = () => {
    scrollTo({ top: 0 })
    again()
  }
  const figures = { search: results.of, secret, onChange: change }
  // No heading stands over nothing.
  const hasFigures = results.total > 0
  useEffect(() => {
    document.title = `${search.q || words.search.title} – Perscope`
  }, [search.q, words])
  return (
    <main class="explorer wide">
      <SearchForm
        draft={draft}
        isFocused={isPasted}
        isTried={asked === null && isSearched}
        errors={errors.q ?? []}
        onType={type}
        onMode={chooseMode}
        onSearch={submit}
      />
      <div class="columns">
        <Filters search={search} errors={errors} secret={secret} onChange={change} />
        <div class="main-column" id="results" tabIndex={-1}>
          <ActiveFilters search={search} onChange={change} onClear={clear} />
          {hasFigures && (
            <Unfolding className="timeline-place" title={words.insights.timeline} minWidth="60rem">
              <Timeline {...figures} />
            </Unfolding>
          )}
          <ResultList {...{ results, secret, fresh, onForget }} onFresh={showFresh} onAgain={again} onChange={change} />
        </div>
        {hasFigures && (
          <aside class="insights" aria-label={words.insights.title}>
            <Unfolding className="breakdowns" title={words.insights.title} minWidth="76rem">
              <Breakdown by="outlet" {...figures} />
              <Breakdown by="language" {...figures} />
              <Breakdown by="country" {...figures} />
            </Unfolding>
          </aside>
        )}
      </div>
    </main>
  )
}

/**
 * The search that the address bar holds. Each change is a step of the browser's history, so back,
 * forward and sharing work.
 */
function useSearch(): [Search, (changed: Search) => void] {
  const [search, setSearch] = useState(() => readSearch(new URLSearchParams(location.search)))
  useEffect(() => {
    const look = () => setSearch(readSearch(new URLSearchParams(location.search)))
    addEventListener('popstate', look)
    return () => removeEventListener('popstate', look)
  }, [])
  const change = useCallback((changed: Search) => {
    setSearch(before => {
      if (isSame(before, changed)) return before
      history.pushState(null, '', addressOf(changed))
      return changed
    })
  }, [])
  return [search, change]
}

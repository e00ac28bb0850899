import { useCallback, useEffect, useMemo, useState } from 'preact/hooks'
import type { SearchMode } from '../../services/api/contract/parameters.ts'
import { Unfolding } from '../parts/unfolding.tsx'
import { useSpeech } from '../words/index.ts'
import { Filters } from './filters/filters.tsx'
import { Breakdown } from './insights/breakdown.tsx'
import { Timeline } from './insights/timeline.tsx'
import { ResultList } from './results/list.tsx'
import { useFresh } from './results/use-fresh.ts'
import { useResults } from './results/use-results.ts'
import { readQuery } from './search/reading.ts'
import { type Draft, NEW_SEARCH, type Search } from './search/search.ts'
import { SearchForm } from './search/search-form.tsx'
import { useSearch } from './use-search.ts'

/** The search with a key: box, filters, results. */
export function SearchPage({ secret, onForget }: { secret: string; onForget(): void }) {
  const { words } = useSpeech()
  const [search, setSearch] = useSearch()
  const [draft, setDraft] = useState<Draft>({ q: search.q, mode: search.mode })
  const [round, setRound] = useState(0)
  useEffect(() => setDraft({ q: search.q, mode: search.mode }), [search])

  // A query that cannot be read is not sent: the line below the box says why.
  const asked = useMemo(() => (readQuery(search).kind === 'problem' ? null : search), [search])
  const results = useResults(asked, secret, round)
  const fresh = useFresh(results.of, secret, results.quota)
  const errors = results.failure?.errors ?? {}

  const again = useCallback(() => setRound(before => before + 1), [])
  const change = useCallback(
    (changed: Partial<Search>) => setSearch({ ...search, q: draft.q.trim(), mode: draft.mode, ...changed }),
    [search, draft, setSearch],
  )
  const submit = () => {
    // The same search once more is asked for anew.
    if (draft.q.trim() === search.q && draft.mode === search.mode) again()
    else change({})
  }
  const chooseMode = (mode: SearchMode) => {
    setDraft({ ...draft, mode })
    if (readQuery({ ...draft, mode }).kind !== 'problem') change(ofMode(search, mode))
  }
  return (
    <main class="explorer">
      <SearchForm
        draft={draft}
        errors={errors.q ?? []}
        onType={q => setDraft({ ...draft, q })}
        onMode={chooseMode}
        onSearch={submit}
      />
      <div class="columns">
        <Filters
          search={search}
          errors={errors}
          secret={secret}
          onChange={change}
          onClear={() => setSearch({ ...NEW_SEARCH, q: search.q, mode: search.mode })}
        />
        <div class="main-column" id="results" tabIndex={-1}>
          <Unfolding className="timeline-place" title={words.insights.timeline} minWidth="60rem">
            <Timeline search={results.of} secret={secret} onChange={change} />
          </Unfolding>
          <ResultList
            results={results}
            secret={secret}
            fresh={fresh}
            onFresh={() => {
              scrollTo({ top: 0 })
              again()
            }}
            onAgain={again}
            onChange={changed => change(changed.mode === undefined ? changed : ofMode(search, changed.mode))}
            onForget={onForget}
          />
        </div>
        <aside class="insights" aria-label={words.insights.title}>
          <Unfolding className="breakdowns" title={words.insights.title} minWidth="76rem">
            {(['outlet', 'language', 'country'] as const).map(by => (
              <Breakdown key={by} by={by} search={results.of} secret={secret} onChange={change} />
            ))}
          </Unfolding>
        </aside>
      </div>
    </main>
  )
}

/** What goes with a mode: closeness is an order of semantic search alone. */
function ofMode(search: Search, mode: SearchMode): Partial<Search> {
  return { mode, sort: mode === 'semantic' || search.sort === 'relevance' ? null : search.sort, order: 'desc' }
}

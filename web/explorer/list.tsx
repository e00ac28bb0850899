import type { VNode } from 'preact'
import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { Related } from '#clients/typescript/src/index'
import { LIMITS } from '#services/api/contract/limits'
import { Button, focusIfLost, useLater, useNow, useWork } from '#web/parts/controls.tsx'
import { FailureNotice } from '#web/parts/failure-notice.tsx'
import { type Speech, useSpeech } from '#web/words/index'
import { Card } from './article.tsx'
import { MeaningLine, useCounts, useMeaning } from './insights/counts.tsx'
import { useChips } from './search/filters.tsx'
import { freshSince } from './search/fresh.ts'
import { inWords } from './search/in-words.ts'
import { matchOf } from './search/marks.ts'
import { addressOf, isSame, NEW_SEARCH, type Search, WAYS, type Way } from './search/search.ts'
import type { Article, Results, Told } from './search/use-results.ts'
import { COMPARED, parametersHere } from './search/view.ts'

/*
 * The list can show one card for each text: copies are then hidden below the first article. Further
 * pages load when the end of the list comes into view.
 */

const loadTake = () => import('./desk.tsx')

interface ListProps {
  results: Results & { loadMore(): void }
  fresh: number
  onFresh(): void
  onAgain(): void
  onChange(change: Partial<Search>): void
  onForget(): void
  /** Whether each text is shown once, with its copies on demand. */
  isOnce: boolean
  onOnce(): void
}

/** The results: their number, the cards, and further cards when the end comes into view. */
export function ResultList(props: ListProps): VNode {
  const { results, onAgain, onChange, onForget, isOnce } = props
  const { of, failure, loading, told } = results
  const related = useRelated(results)
  const [unfolded, setUnfolded] = useState<string | null>(null)
  const { articles, folded } = useMemo(
    () => foldTexts(results.articles, isOnce ? told : null, unfolded),
    [results.articles, told, isOnce, unfolded],
  )
  const match = useMemo(() => (of === null ? null : matchOf(of)), [of])
  const { words, say } = useSpeech()
  const { meaning } = useMeaning(of)
  const drop = dropOf(of, articles, meaning?.near ?? null)
  const since = useMemo(() => of && freshSince(of), [of])
  const now = useNow(60_000)
  // A comparison in the address is shown at once.
  const [taking, setTaking] = useState<Way | null>(() =>
    parametersHere().has(COMPARED) ? 'compare' : null,
  )
  const { Take } = useLater(taking !== null, loadTake)
  const close = () => {
    document.querySelector<HTMLElement>('.ways [aria-expanded="true"]')?.focus()
    setTaking(null)
  }
  const [isCompact, setCompact] = useState(() => localStorage.getItem(COMPACT) !== null)
  const compact = () => {
    if (isCompact) localStorage.removeItem(COMPACT)
    else localStorage.setItem(COMPACT, '1')
    setCompact(!isCompact)
  }
  return (
    <section
      class="results"
      id="results"
      tabIndex={-1}
      aria-labelledby="results-title"
      aria-busy={loading === 'first'}
    >
      <Head
        {...{ ...props, taking, isCompact }}
        close={meaning?.close ?? 0}
        onCompact={compact}
        onTake={way => setTaking(way === taking ? null : way)}
      />
      {of !== null && <Printed of={of} now={now} />}
      {isOnce && <p class="hint">{words.copies.onceAbout}</p>}
      <MeaningLine meaning={meaning} />
      {of !== null && Take !== undefined && <Take search={of} open={taking} onClose={close} />}
      {articles.length > 0 && (
        <ol class={`cards${loading === 'first' ? ' stale' : ''}${isCompact ? ' compact' : ''}`}>
          {articles.map((article, at) => (
            <li key={article.id}>
              {at === drop && (
                <p class="drop">
                  {at === 0 ? words.results.far : say(words.results.near, { n: at })}
                </p>
              )}
              <Card
                {...{ article, match, now, told, related: related.get(article.id) }}
                isFresh={since !== null && (article.ingested_at ?? '') > since}
                matches={results.matches.get(article.id) ?? null}
              />
              <Folded
                n={folded.get(article.id) ?? 0}
                isOpen={unfolded === article.id}
                onOpen={() => setUnfolded(unfolded === article.id ? null : article.id)}
              />
            </li>
          ))}
        </ol>
      )}
      {failure !== null && (
        <FailureNotice
          failure={failure}
          onAgain={failure.errors.cursor === undefined && of !== null ? results.loadMore : onAgain}
          onByWords={() => {
            // The button goes with the failure.
            document.getElementById('results')?.focus({ preventScroll: true })
            onChange({ mode: 'keyword' })
          }}
          onForget={onForget}
        />
      )}
      {of !== null && articles.length === 0 && failure === null && loading === null && (
        <Nothing of={of} onChange={onChange} />
      )}
      {failure === null && <More results={results} />}
    </section>
  )
}

/** A line above the results that only appears in print. */
function Printed({ of, now }: { of: Search; now: number }) {
  const speech = useSpeech()
  const parts = [
    inWords(of, speech),
    speech.date(new Date(now), 'moment'),
    location.origin + addressOf(of),
  ]
  return <p class="printed">{parts.join(' · ')}</p>
}

/**
 * The position of the first article that may be about something else, in a list ordered by
 * closeness. -1: no such article is loaded, or the list has another order.
 */
function dropOf(of: Search | null, articles: Article[], near: number | null): number {
  const isByCloseness =
    of?.mode === 'semantic' && (of.sort ?? 'relevance') === 'relevance' && of.order === 'desc'
  return near !== null && isByCloseness
    ? articles.findIndex(({ relevance = 0 }) => relevance < near)
    : -1
}

/** Articles on the same event, by the id of an article. */
function useRelated({ of, quota }: Results): ReadonlyMap<string, Related[]> {
  const [found, setFound] = useState<ReadonlyMap<string, Related[]>>(new Map())
  const look = useCallback(
    async (signal: AbortSignal) => {
      setFound(new Map())
      if (of === null || quota !== null) return
      const { followRelated } = await import('./copies.tsx')
      await followRelated(signal, (id, data) => setFound(before => new Map(before).set(id, data)))
    },
    [of, quota],
  )
  useWork(look)
  return found
}

/**
 * Keeps the first article of each text in the list, and all articles of the unfolded text.
 *
 * @param told null: all articles are kept
 * @returns `folded`: by the id of a first article, how many more articles have its text
 */
function foldTexts(
  all: Article[],
  told: ReadonlyMap<string, Told> | null,
  unfolded: string | null,
) {
  const shown = new Map<string, string>()
  const folded = new Map<string, number>()
  const articles = all.filter(({ id }) => {
    const text = told?.get(id)?.first ?? id
    const known = shown.get(text)
    if (known === undefined) shown.set(text, id)
    else folded.set(known, (folded.get(known) ?? 0) + 1)
    return known === undefined || known === unfolded
  })
  return { articles, folded }
}

function Folded({ n, isOpen, onOpen }: { n: number; isOpen: boolean; onOpen(): void }) {
  const { words, say } = useSpeech()
  if (n === 0) return null
  return (
    <Button
      class="link folded"
      aria-expanded={isOpen}
      onClick={onOpen}
      text={say(words.copies.more, { n })}
    />
  )
}

/** The key in the browser's storage that is set when the reader wants only titles. */
const COMPACT = 'perscope.compact'

function Head(
  props: ListProps & {
    /** How many articles a search by meaning says to be close. */
    close: number
    isCompact: boolean
    onCompact(): void
    taking: Way | null
    onTake(way: Way): void
  },
) {
  const { results, close, fresh, onFresh, isCompact, onCompact, taking, onTake, isOnce, onOnce } =
    props
  // Of a search by meaning, only the close articles would be counted.
  const counted = isOnce && results.of?.mode !== 'semantic' ? results.of : null
  const texts = useCounts(counted, 'country', 0, true).counts?.total
  const speech = useSpeech()
  const { words, say } = speech
  return (
    <div class="row results-head">
      <h2 id="results-title" class="unseen">
        {words.results.title}
      </h2>
      <p role="status" class="total">
        {totalOf(results, close, speech)}
        {texts !== undefined &&
          results.loading !== 'first' &&
          `, ${say(words.copies.texts, { n: texts })}`}
      </p>
      {fresh > 0 && (
        <Button
          class="primary chip"
          onClick={onFresh}
          text={`↑ ${say(words.results.fresh, { n: fresh })}`}
        />
      )}
      {results.articles.length > 0 && (
        <Button
          class="chip"
          aria-pressed={isCompact}
          onClick={onCompact}
          text={words.results.compact}
        />
      )}
      {results.articles.length > 0 && (
        <Button class="chip" aria-pressed={isOnce} onClick={onOnce} text={words.copies.once} />
      )}
      {results.of !== null && (
        <fieldset class="row ways" aria-label={words.take.open}>
          {WAYS.map(way => (
            <Button
              key={way}
              class={way === 'keep' || way === 'tell' ? 'primary' : ''}
              aria-expanded={taking === way}
              onClick={() => onTake(way)}
              text={words.take[way]}
            />
          ))}
        </fieldset>
      )}
    </div>
  )
}

/** A search by meaning finds the nearest articles, whatever they are about. */
function totalOf(
  { of, total, estimate, loading, failure }: Results,
  close: number,
  { words, say }: Speech,
): string {
  if (loading === 'first') return words.results.searching
  if (failure !== null || of === null) return ''
  if (close > 0) {
    const found = say(words.results.close, { n: close })
    return total > 1 ? `${found}, ${say(words.results.ofNearest, { of: total })}` : found
  }
  if (of.mode === 'semantic' && total > 0) return say(words.results.nearest, { n: total })
  return say(estimate ? words.results.more : words.results.total, { n: total })
}

/** Nothing was found: suggests other searches. */
function Nothing({ of, onChange }: { of: Search; onChange(change: Partial<Search>): void }) {
  const { words, say } = useSpeech()
  const chips = useChips(of)
  if (isSame(of, NEW_SEARCH)) {
    return (
      <div class="nothing">
        <p class="lead">{words.results.empty}</p>
        <p>{words.results.emptyHow}</p>
      </div>
    )
  }
  const hasWords = of.q !== '' && of.mode !== 'semantic'
  const steps: [text: string, change: Partial<Search>][] = [
    ...(hasWords && of.searchIn === 'title'
      ? [[words.results.searchBoth, { searchIn: 'title_body' }] as const]
      : []),
    ...(hasWords && of.mode === 'boolean' && /\S\s+\S/.test(of.q)
      ? [[words.reading.hint.useKeyword, { mode: 'keyword' }] as const]
      : []),
    ...chips
      .filter(({ off }) => !('searchIn' in off))
      .slice(0, MOST_STEPS)
      .map(({ text, off }) => [say(words.results.without, { filter: text }), off] as const),
    ...(hasWords && [...of.q].length >= LIMITS.semanticQ
      ? [[words.results.byMeaning, { mode: 'semantic' }] as const]
      : []),
  ].map(([text, change]) => [text, change])
  return (
    <div class="nothing">
      <p class="lead">{words.results.none}</p>
      <p>{steps.length > 0 ? words.results.tryNext : words.results.tryFewer}</p>
      <p class="row">
        {steps.map(([text, change]) => (
          <Button
            key={text}
            onClick={() => {
              onChange(change)
              focusIfLost(() => document.getElementById('results'))
            }}
            text={text}
          />
        ))}
      </p>
    </div>
  )
}

/** The most filters that an empty list offers to remove. */
const MOST_STEPS = 4

/** Loads the next page when the end comes into view, or by a button. */
function More({ results }: { results: Results & { loadMore(): void } }) {
  const { words } = useSpeech()
  const end = useRef<HTMLDivElement>(null)
  const { next, loading, loadMore, articles } = results
  useEffect(() => {
    const place = end.current
    if (place === null || next === null) return
    const watcher = new IntersectionObserver(
      entries => entries.some(entry => entry.isIntersecting) && loadMore(),
      {
        rootMargin: '600px',
      },
    )
    watcher.observe(place)
    return () => watcher.disconnect()
  }, [next, loadMore])
  return (
    <div class="more" ref={end}>
      {next !== null && (
        <Button
          onClick={loadMore}
          disabled={loading !== null}
          text={loading === 'more' ? words.results.searching : words.results.loadMore}
        />
      )}
      {next === null && articles.length > 0 && loading === null && <p>{words.results.end}</p>}
    </div>
  )
}

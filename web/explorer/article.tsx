import type { VNode } from 'preact'
import { useCallback, useMemo, useState } from 'preact/hooks'
import type { Related } from '#clients/typescript/src/index'
import type { Match } from '#search/browser'
import { snippetText } from '#shared/articles/article'
import { useLater, useTitle, useWork } from '#web/parts/controls.tsx'
import { FailureNotice } from '#web/parts/failure-notice.tsx'
import { ask, isOneOf, type Outcome, safeAddress } from '#web/parts/request'
import { ago } from '#web/parts/time'
import { useSpeech } from '#web/words/index'
import { mark, type Piece } from './search/marks.ts'
import { type Article, askCopies, type Matches, type Told } from './search/use-results.ts'
import { notedPlace, RESULTS } from './search/view.ts'

/** The page of one article, at its permanent address. */
export function ArticlePage(props: { id: string; isPasted: boolean; onForget(): void }): VNode {
  const { id, isPasted, onForget } = props
  const { words, say, date } = useSpeech()
  const [round, setRound] = useState(0)
  const [outcome, setOutcome] = useState<Outcome<{ data: Article }> | null>(null)
  const load = useCallback(
    async (signal: AbortSignal) => {
      setOutcome(null)
      setOutcome(
        await ask(`/explore/articles/${encodeURIComponent(id)}`, isOneOf<Article>, { signal }),
      )
    },
    [id, round],
  )
  useWork(load)
  const [told, setTold] = useState<ReadonlyMap<string, Told>>(new Map())
  const [related, setRelated] = useState<Related[]>()
  const article = outcome?.kind === 'ok' ? outcome.value.data : null
  const isThere = article !== null
  const lookBeside = useCallback(
    async (signal: AbortSignal) => {
      if (!isThere) return
      const copies = await askCopies(String(new URLSearchParams({ id })), { signal })
      if (copies.kind === 'ok') setTold(new Map(copies.value.data.map(one => [one.id, one])))
      const found = await (await loadBeside()).askRelated(id, signal)
      if (found.kind === 'ok') setRelated(found.value.data ?? [])
    },
    [id, isThere],
  )
  useWork(lookBeside)
  const title = article?.title || words.results.page
  useTitle(title)
  const before = useMemo(notedPlace, [])
  const failure = outcome?.kind === 'failure' ? outcome : null
  const isGone = failure?.code === 'article_removed'
  const isNone = isGone || failure?.code === 'not_found'
  const day = failure?.message.match(/\d{4}-\d\d-\d\d/)?.[0]
  const none =
    isGone && day !== undefined
      ? say(words.results.takenOut, { day: date(new Date(`${day}T12:00`), 'day') })
      : words.results.noArticle
  return (
    <main
      class="wide alone"
      id="results"
      tabIndex={-1}
      ref={isPasted ? focus : null}
      aria-busy={outcome === null}
    >
      <p class="back">
        <a href={before === null ? '/' : `/${before.address}${RESULTS}`}>
          <span aria-hidden="true">← </span>
          {before === null ? words.search.title : words.results.back}
        </a>
      </p>
      {article === null && <h1 class={isNone ? '' : 'unseen'}>{isNone ? none : title}</h1>}
      {article !== null && (
        <Card {...{ article, match: null, matches: null, now: null, told, related }} />
      )}
      {article !== null && <p>{words.results.owner}</p>}
      {outcome?.kind === 'failure' && !isNone && (
        <FailureNotice failure={outcome} onAgain={() => setRound(round + 1)} onForget={onForget} />
      )}
    </main>
  )
}

/** Moves the focus here, because the form of the key had the focus and has disappeared. */
const focus = (place: HTMLElement | null) => place?.focus()

const loadBeside = () => import('./copies.tsx')

/**
 * An article as readers see it.
 *
 * @param props.now null: the article is alone on its page
 */
export function Card(props: {
  article: Article
  match: Match | null
  matches: Matches | null
  now: number | null
  told: ReadonlyMap<string, Told>
  related: Related[] | undefined
  /** The article was new when its kept search was opened. */
  isFresh?: boolean
}): VNode {
  const { article, isFresh = false, match, matches, now, told, related } = props
  const hasBeside = (told.get(article.id)?.copies ?? []).length > 0 || (related ?? []).length > 0
  const { Beside } = useLater(hasBeside, loadBeside)
  const Heading = now === null ? 'h1' : 'h3'
  const { words, say } = useSpeech()
  const { language, authors } = article
  const snippet = article.snippet === null ? null : snippetText(article.snippet)
  const address = safeAddress(article.url)
  const piecesOf = (text: string) => mark(text, match, matches?.words ?? null)
  const inTitle = piecesOf(article.title || words.results.noTitle)
  const inSnippet = piecesOf(snippet ?? '')
  const isSeen = [...inTitle, ...inSnippet].some(({ found }) => found)
  const title = <Marked pieces={inTitle} />
  return (
    <article class="card" lang={language} data-id={article.id}>
      <Source {...{ article, isFresh, now }} />
      <Heading>
        {address === null ? (
          title
        ) : (
          <a href={address} rel="noopener noreferrer" target="_blank">
            {title}
          </a>
        )}
      </Heading>
      {snippet !== null && (
        <p class="snippet">
          <Marked pieces={inSnippet} />
        </p>
      )}
      {matches !== null && matches.places > 0 && !isSeen && (
        <p class="hint" lang={document.documentElement.lang}>
          {say(words.results.places[matches.late ? 'late' : 'early'], { n: matches.places })}
        </p>
      )}
      {authors.length > 0 && <p class="hint">{authors.map(({ name }) => name).join(', ')}</p>}
      {Beside !== undefined && <Beside {...{ article, told, related }} />}
    </article>
  )
}

/** Shows where an article is from and when it appeared, in the language of the page. */
function Source(props: { article: Article; isFresh: boolean; now: number | null }) {
  const { article, isFresh, now } = props
  const { words } = useSpeech()
  const { language, country, relevance, section, kind, access } = article
  const said = [
    section,
    kind && words.filters.kinds[kind],
    access && words.filters.accesses[access],
  ].filter((one, at, all) => one !== undefined && all.indexOf(one) === at)
  return (
    <div class="row hint source" lang={document.documentElement.lang}>
      {isFresh && <b class="pill fresh">{words.kept.new}</b>}
      <b>{article.outlet.name ?? article.outlet.domain ?? '–'}</b>
      <a href={`/a/${encodeURIComponent(article.id)}`} title={words.results.page}>
        <Moment at={article.published_at} now={now} />
      </a>
      <span class="tags">
        <Code code={country} name={words.countries[country]} />
        <Code code={language} name={words.languages[language]} />
        {said.map(one => (
          <span key={one} title={words.filters.said}>
            {one}
          </span>
        ))}
      </span>
      {relevance !== undefined && <Relevance relevance={relevance} />}
    </div>
  )
}

/** A code, which is read aloud as the name that it stands for. */
const Code = ({ code, name }: { code: string; name: string }) => (
  <span title={name}>
    <span aria-hidden="true">{code}</span>
    <span class="unseen">{name}</span>
  </span>
)

/**
 * Shows how close an article is, with the same scale in all searches: in percent, as a bar, and as
 * the API's figure on demand.
 */
function Relevance({ relevance }: { relevance: number }) {
  const { words, percent, say } = useSpeech()
  return (
    <details class="relevance">
      <summary class="row">
        {say(words.results.relevance, { percent: percent(Math.floor(100 * relevance) / 100) })}
        <span class="scale">
          <span class="bar" style={{ width: `${(4.5 * relevance).toFixed(2)}rem` }} />
        </span>
      </summary>
      {relevance.toFixed(4)}
    </details>
  )
}

const Marked = ({ pieces }: { pieces: Piece[] }) => (
  <>{pieces.map(({ text, found }) => (found ? <mark>{text}</mark> : text))}</>
)

/** @param props.now null: shows the moment itself, instead of how long ago it was */
function Moment({ at, now }: { at: string | null; now: number | null }) {
  const speech = useSpeech()
  if (at === null) return <span>{speech.words.results.noDate}</span>
  const date = new Date(at)
  return (
    <time dateTime={at} title={speech.date(date, 'moment')}>
      <span>{now === null ? speech.date(date, 'moment') : ago(date, now, speech)}</span>
    </time>
  )
}

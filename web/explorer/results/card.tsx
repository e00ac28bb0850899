import type { Match } from '../../../search/browser.ts'
import { ago } from '../../parts/time.ts'
import { useSpeech } from '../../words/index.ts'
import { mark, type StopWords } from './marks.ts'
import { type Article, safeAddress } from './page.ts'

/** An article as somebody reads it in a list. */
export function Card({
  article,
  match,
  stopWords,
  now,
}: {
  article: Article
  match: Match | null
  stopWords: StopWords | null
  now: number
}) {
  const { words } = useSpeech()
  const { language, snippet, authors } = article
  const address = safeAddress(article.url)
  const marked = (text: string) => <Marked text={text} {...{ language, match, stopWords }} />
  const title = marked(article.title || words.results.noTitle)
  return (
    <article class="card" lang={language}>
      <Source article={article} now={now} />
      <h3>
        {address === null ? (
          title
        ) : (
          <a href={address} rel="noopener noreferrer" target="_blank">
            {title}
          </a>
        )}
      </h3>
      {snippet !== null && (
        <p class="snippet">
          {marked(snippet)}
          {[...snippet].length >= 190 && '\u00A0…'}
        </p>
      )}
      {authors.length > 0 && <p class="authors">{authors.map(({ name }) => name).join(', ')}</p>}
    </article>
  )
}

/** Where an article is from, and when: in the language of the page. */
function Source({ article, now }: { article: Article; now: number }) {
  const { words, percent } = useSpeech()
  const { language, country, relevance } = article
  return (
    <p class="source" lang={document.documentElement.lang}>
      <b>{article.outlet.name ?? article.outlet.domain ?? '–'}</b>
      <Moment at={article.published_at} now={now} />
      <span class="tags">
        <span title={words.countries[country]}>{country}</span>
        <span title={words.languages[language]}>{language}</span>
      </span>
      {relevance !== undefined && (
        <span class="relevance">
          <meter min={0} max={1} value={relevance} aria-label={words.results.relevance(percent(relevance))} />
          <span aria-hidden="true">{percent(relevance)}</span>
        </span>
      )}
    </p>
  )
}

function Marked(props: {
  text: string
  language: Article['language']
  match: Match | null
  stopWords: StopWords | null
}) {
  const pieces = mark(props.text, props.language, props.match, props.stopWords)
  return <>{pieces.map(({ text, found }) => (found ? <mark>{text}</mark> : text))}</>
}

function Moment({ at, now }: { at: string | null; now: number }) {
  const speech = useSpeech()
  if (at === null) return <span>{speech.words.results.noDate}</span>
  const date = new Date(at)
  return (
    <time dateTime={at} title={speech.date(date, 'moment')}>
      {ago(date, now, speech)}
    </time>
  )
}

import type { ComponentChildren, VNode } from 'preact'
import { useState } from 'preact/hooks'
import type { Citation } from '#clients/typescript/src/index'
import { Card } from '#web/explorer/article.tsx'
import { CloseLine } from '#web/explorer/insights/counts.tsx'
import { inWords } from '#web/explorer/search/in-words'
import { addressOf, readStored, type Search, writeSearch } from '#web/explorer/search/search'
import type { Article } from '#web/explorer/search/use-results'
import { Button, CopyButton, useAsking, useStateOf, useTitle } from '#web/parts/controls.tsx'
import { FailureNotice } from '#web/parts/failure-notice.tsx'
import { ask, askFile, hasList, isRecord, pageKey } from '#web/parts/request'
import { useSpeech } from '#web/words/index'
import { saveFile } from './download.ts'

/**
 * The data that the server writes into the page of a citation: the citation, and texts for citing
 * it.
 */
type Told = Citation & {
  line: string
  bibtex: string
  ris: string
  /** A sentence on its articles that were taken out. */
  removed: string | null
  key_ended: boolean
}

/** What the server writes in place of a citation that an operator removed. */
type Removed = { removed_at: string }

const isCitation = (json: unknown): json is Citation =>
  isRecord(json) && typeof json.digest === 'string'
const isTold = (json: unknown): json is Told => isCitation(json) && 'bibtex' in json
const isCited = (json: unknown): json is { outside: number; articles: Article[] } =>
  hasList(json, 'articles')

const isRemoved = (json: unknown): json is Removed =>
  isRecord(json) && typeof json.removed_at === 'string'

function toldByPage(): Told | Removed | null {
  const written: unknown = JSON.parse(
    document.querySelector('script[type="application/json"]')?.textContent ?? 'null',
  )
  return isTold(written) || isRemoved(written) ? written : null
}

const FORMATS = ['json', 'csv', 'bib', 'ris'] as const
const NOTHING = new Map<string, never>()
/** The most articles that the page shows; a file has all. */
const SHOWN = 100

/**
 * The page of a citation, which is open to everybody. Its articles need a key.
 *
 * @param props.children the form for a key, while there is no key
 */
export function CitePage({ children }: { children: ComponentChildren }): VNode {
  const speech = useSpeech()
  const { words, date, say } = speech
  const [citation] = useState(toldByPage)
  const title =
    citation === null
      ? words.cite.none
      : isRemoved(citation)
        ? say(words.cite.removed, { day: date(new Date(citation.removed_at), 'day') })
        : words.cite.title
  useTitle(title)
  if (citation === null || isRemoved(citation)) {
    return (
      <main class="wide alone" id="results">
        <h1>{title}</h1>
      </main>
    )
  }
  const stored = readStored(citation.search)
  const { count, digest, reach, line, bibtex, ris } = citation
  return (
    <main class="wide alone cited" id="results">
      <h1>{title}</h1>
      <p>
        <a href={addressOf(stored)}>{inWords(stored, speech)}</a>
      </p>
      <p>
        {say(words.results.total, { n: count })} ·{' '}
        {say(words.cite.day, { moment: date(new Date(citation.cited_at), 'moment') })}
      </p>
      <p class="hint">
        {say(words.cite.reach, {
          countries: reach.countries.map(one => words.countries[one]).join(', '),
        })}{' '}
        · {say(words.filters.since, { day: date(new Date(reach.since), 'day') })} · SHA-256{' '}
        <code>{digest}</code>
      </p>
      {citation.removed && (
        <p class="hint">{speech.heard([citation.removed]) ?? citation.removed}</p>
      )}
      {citation.key_ended && <p class="hint">{words.cite.keyEnded}</p>}
      {citation.ids_only && <p class="hint">{words.cite.idsOnly}</p>}
      <h2>{words.take.cite}</h2>
      {Object.entries({ [words.cite.line]: line, BibTeX: bibtex, RIS: ris }).map(([name, text]) => (
        <section key={name}>
          <h3>{name}</h3>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: keys scroll what is wider than the screen */}
          <pre tabIndex={0}>{text}</pre>
          <CopyButton text={text} />
        </section>
      ))}
      {pageKey() === '' ? (
        <>
          <p class="lead">{words.cite.locked}</p>
          {children}
        </>
      ) : (
        <CitedArticles citation={citation} />
      )}
    </main>
  )
}

/** The articles within the reader's plan: as files, and the first of them for reading. */
function CitedArticles({ citation: { address } }: { citation: Citation }) {
  const { words, say } = useSpeech()
  const [cited, setCited] = useState<{ outside: number; articles: Article[] } | null>(null)
  const { failure, told } = useAsking()
  const show = async () => setCited(await told(ask(`${address}.json`, isCited)))
  const save = async (format: string) => {
    const file = await told(askFile(`${address}.${format}`))
    if (file !== null) saveFile(file, `perscope-${address.slice(6, 18)}.${format}`)
  }
  return (
    <>
      <p class="row">
        <Button class="primary" onClick={show} text={words.cite.show} />
        {FORMATS.map(format => (
          <Button key={format} onClick={() => save(format)} text={format.toUpperCase()} />
        ))}
      </p>
      {failure !== null && <FailureNotice failure={failure} onAgain={show} />}
      <p role="status">
        {cited !== null && cited.outside > 0 && say(words.cite.outside, { n: cited.outside })}
      </p>
      {cited?.articles.slice(0, SHOWN).map(article => (
        <Card
          key={article.id}
          {...{ article, match: null, matches: null, told: NOTHING, related: undefined }}
          now={Date.now()}
        />
      ))}
      {cited !== null && cited.articles.length > SHOWN && (
        <p>{say(words.insights.more, { n: cited.articles.length - SHOWN })}</p>
      )}
    </>
  )
}

/** Gives a search an address that always shows the same articles. */
export function CitePanel({ search }: { search: Search }): VNode {
  const { words } = useSpeech()
  const [made, setMade] = useStateOf<Citation | null>(search, null)
  const { failure, told } = useAsking()
  const make = async () => {
    const body = { search: String(writeSearch(search)) }
    setMade(await told(ask('/explore/citations', isCitation, { method: 'POST', body })))
  }
  return (
    <section>
      <h3>{words.take.cite}</h3>
      <p class="hint">{words.cite.about}</p>
      <CloseLine search={search} sentence={words.take.close} />
      <p class="row">
        <Button class="primary" onClick={make} text={words.cite.make} />
      </p>
      <div role="status">
        {made !== null && (
          <p class="row">
            <a href={made.address}>{made.url}</a>
            <CopyButton text={made.url} />
          </p>
        )}
      </div>
      {failure !== null && <FailureNotice failure={failure} onAgain={make} />}
    </section>
  )
}

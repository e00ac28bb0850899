import type { VNode } from 'preact'
import type { Related } from '#clients/typescript/src/index'
import { ask, hasList, isRecord, type Outcome, safeAddress } from '#web/parts/request'
import { Table } from '#web/parts/table.tsx'
import { rest, whenSeen } from '#web/parts/time'
import { useSpeech } from '#web/words/index'
import type { Article, Told } from './search/use-results.ts'

/**
 * The part below an article: its copies, and articles in other languages. Most articles have
 * neither. This is a separate file, so that the first view does not wait for it.
 */
export function Beside(props: {
  article: Article
  told: ReadonlyMap<string, Told>
  related: Related[] | undefined
}): VNode {
  return (
    <>
      <Copies {...props} />
      <OtherLanguages {...props} />
    </>
  )
}

/**
 * Below this share of their text two articles may be an earlier and a later version, or one of them
 * quotes the other at length (decision 48).
 */
const WHOLE = 0.8

/**
 * The articles that share most of their text: their times, their headlines, how much each shares
 * with the first of them, and how many words each has of its own.
 */
function Copies({ article, told }: { article: Article; told: ReadonlyMap<string, Told> }) {
  const { words, percent, date, say } = useSpeech()
  const { copies, first, agencies } = told.get(article.id) ?? NOTHING
  if (copies === null || copies.length === 0) return null
  const all = [article, ...copies.map(copy => copy.article)].sort((a, b) =>
    momentOf(a) < momentOf(b) ? -1 : 1,
  )
  const outlets = new Set(all.map(outletOf)).size - 1
  const others = outlets === 0 ? words.copies.more : words.copies.outlets
  const n = outlets || copies.length
  // The first one compares with the article itself, and all others with the first one.
  const sharedBy = new Map(copies.map(copy => [copy.article.id, copy.shared]))
  const shared = (id: string) => {
    if (id === first) return words.copies.first
    const share = sharedBy.get(id === article.id ? (first ?? '') : id)
    if (share === undefined || share === null) return '–'
    return share < WHOLE ? `${percent(share)}: ${words.copies.version}` : percent(share)
  }
  return (
    <details class="beside hint" lang={document.documentElement.lang}>
      <summary>{say(others, { n })}</summary>
      <Table
        columns={[
          words.filters.dates,
          words.copies.headline,
          words.copies.shared,
          words.copies.own,
        ]}
        figures={[3]}
        rows={all.map(one => ({
          key: one.id,
          name:
            one.published_at === null
              ? words.results.noDate
              : date(new Date(one.published_at), 'clock'),
          cells: [
            <Headline key={one.id} article={one} />,
            shared(one.id),
            told.get(one.id)?.own_words ?? '–',
          ],
        }))}
      />
      {agencies.length > 0 && (
        <p>{say(words.app.named, { name: words.copies.source, value: agencies.join(', ') })}</p>
      )}
    </details>
  )
}

const NOTHING = { copies: null, first: null, agencies: [] }
const momentOf = ({ published_at, ingested_at }: Article) => published_at ?? ingested_at ?? ''
const outletOf = ({ outlet }: Article) => outlet.name ?? outlet.domain ?? '–'

function Headline({ article }: { article: Article }) {
  const { words } = useSpeech()
  const address = safeAddress(article.url)
  const title = article.title || words.results.noTitle
  return (
    <>
      <b>{outletOf(article)}</b>{' '}
      {address === null ? (
        <span lang={article.language}>{title}</span>
      ) : (
        <a href={address} lang={article.language} rel="noopener noreferrer" target="_blank">
          {title}
        </a>
      )}
    </>
  )
}

/** Articles on the same event in other languages. Shows nothing without such articles. */
function OtherLanguages({
  article,
  related,
}: {
  article: Article
  related: Related[] | undefined
}) {
  const { words, say } = useSpeech()
  const { days: apart } = words.copies
  const others = related?.filter(one => one.article.language !== article.language) ?? []
  if (others.length === 0) return null
  return (
    <details class="beside hint" lang={document.documentElement.lang}>
      <summary>{say(words.copies.languages, { n: others.length })}</summary>
      <ul>
        {others.map(({ article: one, days }) => (
          <li key={one.id}>
            <span class="tags">{words.languages[one.language]}</span>{' '}
            {days === 0
              ? apart.same
              : say(days < 0 ? apart.before : apart.later, { n: Math.abs(days) })}{' '}
            <Headline article={one} />
          </li>
        ))}
      </ul>
    </details>
  )
}

/** ms before the first request about a card in view, and between two such requests. */
const LOOK = 1_000
/**
 * ms between two requests when less than half of the minute's requests is left, so that searches
 * have priority.
 */
const PAUSE = 20_000

/**
 * Requests articles on the same event as those in view, one after the other. Each request counts in
 * the minute and in the month. So with a key that has a quota, the list requests nothing, and only
 * the page of an article does.
 *
 * @param tell gets the articles that are found for an article
 */
export async function followRelated(
  signal: AbortSignal,
  tell: (id: string, found: Related[]) => void,
): Promise<void> {
  const asked = new Set<string>()
  for (let pause = LOOK; ; ) {
    await rest(pause, signal)
    await whenSeen(signal)
    const id = cardsInView().find(id => !asked.has(id))
    if (id === undefined) continue
    asked.add(id)
    const answer = await askRelated(id, signal)
    if (answer.kind === 'failure') return
    pause = answer.room < 0.5 ? PAUSE : LOOK
    tell(id, answer.value.data ?? [])
  }
}

export const askRelated = (
  id: string,
  signal: AbortSignal,
): Promise<Outcome<{ data: Related[] | null }>> =>
  ask(`/explore/related?${new URLSearchParams({ id })}`, isAnswer, { signal })

const isAnswer = (json: unknown): json is { data: Related[] | null } =>
  hasList(json, 'data') || (isRecord(json) && json.data === null)

const cardsInView = () =>
  [...document.querySelectorAll<HTMLElement>('.cards:not(.compact) [data-id]')].flatMap(card => {
    const { top, bottom } = card.getBoundingClientRect()
    return bottom > 0 && top < innerHeight ? (card.dataset.id ?? []) : []
  })

import 'uplot/dist/uPlot.min.css'
import '#web/parts/base.css'
import './status.css'
import { type ComponentChildren, render } from 'preact'
import { useCallback, useEffect, useState } from 'preact/hooks'
import {
  type Cause,
  embeddingsAreLate,
  type Figures,
  type Flow,
  type LagHour,
  pagesAreLate,
  type Quarantined,
  type QueueCounts,
  type RunningFleet,
} from '#shared/figures'
import { ago, number, plural, span } from '#status/words'
import { Bar, Footer, useNow, useWork } from '#web/parts/controls.tsx'
import { ask, type Failure, isRecord, sentenceOf } from '#web/parts/request'
import { Table } from '#web/parts/table.tsx'
import { rest, whenSeen } from '#web/parts/time'
import { loadSpeech, SpeechContext } from '#web/words/index'
import { LastDay } from './last-day.tsx'
import { MachineSection, Outlets } from './outlets.tsx'

/** The page for operators, which shows the state of the fleet. */
function Status() {
  const watch = useFigures()
  const { figures, failure } = watch
  const service = figures?.service ?? 'Perscope'
  useEffect(() => {
    document.title = `${service} status`
  }, [service])
  return (
    <>
      <Bar>
        <a href="/status/figures">Figures as JSON</a>
      </Bar>
      <main class={failure === null ? 'status wide' : 'status wide stale'}>
        <Verdict
          service={service}
          problems={problemsNow(watch)}
          waiting={waitingIn(figures)}
          readAt={watch.readAt}
        />
        {figures && (
          <>
            <Part id="flow-title" title="The way of an article">
              <Way figures={figures} />
            </Part>
            <Part id="lag-title" title="The last 24 hours">
              <LastDay hours={figures.lag} />
            </Part>
            <div class="pair">
              <Part id="queues-title" title="Queues">
                <QueueTable queues={figures.queues} />
              </Part>
              <Part id="quarantine-title" title="Quarantine">
                <Quarantine quarantine={figures.quarantine} at={figures.at} />
              </Part>
            </div>
            <Part id="machines-title" title="Machines">
              <MachineSection machines={figures.machines} />
            </Part>
            <Part id="outlets-title" title="Outlets">
              <Outlets outlets={figures.outlets} at={figures.at} />
            </Part>
          </>
        )}
      </main>
      <Footer />
    </>
  )
}

function Part(props: { id: string; title: string; children: ComponentChildren }) {
  const { id, title, children } = props
  return (
    <section aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      {children}
    </section>
  )
}

/** Something that an operator should look at. */
type Problem = Pick<Cause, 'level' | 'text'>

/** Problems that an operator should look at; null: nothing is known yet. */
function problemsNow({ figures, failure }: Watch): Problem[] | null {
  if (failure !== null) return [{ level: 'bad', text: sentenceOf(failure) }]
  return figures?.causes ?? null
}

/** The number of articles that wait for their embedding. Some are due now, others later. */
const waitingIn = (figures: Figures | null): number =>
  (figures?.flow?.embeddings.due ?? 0) + (figures?.flow?.embeddings.promised ?? 0)

/** The name in the header, which the title need not repeat. */
const WORDMARK = 'Perscope'

/** The state of the fleet: a word, its reasons, and the age of the figures. */
function Verdict(props: {
  service: string
  problems: Problem[] | null
  waiting: number
  readAt: number
}) {
  const { service, problems, waiting, readAt } = props
  return (
    <>
      <div class="row head">
        <h1>{service === WORDMARK ? 'Status' : `${service} status`}</h1>
        <p class={`verdict pill ${levelOf(problems)}`} role="status">
          {wordsOf(problems)}
        </p>
        {waiting > 0 && (
          <p class="hint">
            {plural(waiting, 'article')} wait for a vector: not yet found by meaning
          </p>
        )}
        <Age readAt={readAt} />
      </div>
      {problems !== null && problems.length > 0 && (
        <ul class="problems">
          {problems.map(({ level, text }) => (
            <li key={text} class={`notice ${level}`}>
              {text}
            </li>
          ))}
        </ul>
      )}
    </>
  )
}

function levelOf(problems: Problem[] | null) {
  if (problems === null) return ''
  if (problems.length === 0) return 'good'
  return problems.some(({ level }) => level === 'bad') ? 'bad' : 'warn'
}

function wordsOf(problems: Problem[] | null) {
  if (problems === null) return 'Reading …'
  return problems.length === 0 ? 'All is well' : `${plural(problems.length, 'thing')} to look at`
}

function Age({ readAt }: { readAt: number }) {
  const now = useNow(1_000)
  if (readAt === 0) return null
  return (
    <p class="hint updated">updated {span(Math.max(0, Math.round((now - readAt) / 1_000)))} ago</p>
  )
}

const ABOUT: Record<string, string> = {
  normalise: 'pages to normalise',
  embed: 'articles to embed',
}
const STATES = ['waiting', 'active', 'delayed', 'failed'] as const

function QueueTable({ queues }: { queues: Record<string, QueueCounts> | null }) {
  if (queues === null) return <p class="hint">Could not be read.</p>
  const rows = Object.entries(queues).map(([key, counts]) => ({
    key,
    name: [key, ' ', <small key={key}>{ABOUT[key]}</small>],
    cells: STATES.map(state => counts[state]),
  }))
  return <Table columns={['Queue', ...STATES]} rows={rows} />
}

/** How many of the newest failures are shown; the command lists all. */
const NEWEST = 5

/** Work that failed for good, by reason, and the newest of it. */
function Quarantine({ quarantine, at }: Pick<Figures, 'quarantine' | 'at'>) {
  if (quarantine === null) return <p class="hint">Could not be read.</p>
  const { counts, newest } = quarantine
  if (counts.length === 0) return <p class="hint">Empty: nothing has failed for good.</p>
  return (
    <>
      <ul class="row reasons">
        {counts.map(({ kind, reason, n, ours }) => (
          <li key={`${kind} ${reason}`} class={ours ? 'pill warn' : 'pill'}>
            {kind === 'page'
              ? `${plural(n, 'page')}: ${reason}`
              : `${plural(n, 'article')} not embedded`}
            {ours && ' (our side)'}
          </li>
        ))}
      </ul>
      <ol class="newest">
        {newest.slice(0, NEWEST).map(one => (
          <Failed key={one.id} one={one} now={Date.parse(at)} />
        ))}
      </ol>
      <p class="hint">
        <code>npm run queues -- list</code> shows all of it,{' '}
        <code>npm run queues -- retry --all</code> gives it back.
      </p>
    </>
  )
}

function Failed({
  one: { id, what, reason, detail, since },
  now,
}: {
  one: Quarantined
  now: number
}) {
  const about = id.startsWith('page') ? [reason, id] : [id]
  return (
    <li>
      <small>{[ago(since, now), ...about].join(' · ')}</small>
      <span>{what}</span>
      {detail && <small>{detail}</small>}
    </li>
  )
}

/** The data of the page. */
interface Watch {
  /** The last figures that arrived; null: none yet. */
  figures: Figures | null
  /** When the figures came, in ms of this browser's clock. */
  readAt: number
  /** Why no newer figures arrived; null: the last request was answered. */
  failure: Failure | null
}

/** ms between an answer and the next request. */
const EVERY = 3_000

/** Requests the figures again and again while the page is visible. */
function useFigures(): Watch {
  const [watch, setWatch] = useState<Watch>({ figures: null, readAt: 0, failure: null })
  const look = useCallback(async (signal: AbortSignal) => {
    // fetch refuses an address with a name and a password, which the page's own address may have.
    const address = `${location.origin}/status/figures`
    for (;;) {
      await whenSeen(signal)
      const outcome = await ask(address, isFigures, { signal })
      if (outcome.kind === 'ok')
        setWatch({ figures: outcome.value, readAt: Date.now(), failure: null })
      else setWatch(last => ({ ...last, failure: outcome }))
      await rest(EVERY, signal)
    }
  }, [])
  useWork(look)
  return watch
}

const isFigures = (json: unknown): json is Figures =>
  isRecord(json) && typeof json.service === 'string'

const WORDS: Record<State, string> = {
  good: 'running',
  warn: 'needs attention',
  bad: 'not there',
  unknown: 'not known',
}

/**
 * Draws the way of an article: services as boxes with a light, stores as cylinders. The style puts
 * them from left to right, or from top to bottom on a narrow screen.
 */
function Way({ figures }: { figures: Figures }) {
  return (
    <ol class="flow">
      {stepsOf(figures).map(step => (
        <Place key={step.name} step={step} />
      ))}
    </ol>
  )
}

function Place({ step: { name, state, value, unit, note, moves } }: { step: Step }) {
  return (
    <li class={`step ${state ?? 'store'} ${moves ? 'moves' : ''}`}>
      <h3>{name}</h3>
      {state && <p class={state === 'good' ? 'state unseen' : 'state'}>{WORDS[state]}</p>}
      <p class="value">{value === null ? '–' : number(value)}</p>
      <p class="unit">{unit}</p>
      <p class="note">{note}</p>
    </li>
  )
}

type State = 'good' | 'warn' | 'bad' | 'unknown'

/** A service or a store that articles pass through. */
interface Step {
  name: string
  /** The state of a service; absent: this is a store. */
  state?: State
  /** null: unknown. */
  value: number | null
  unit: string
  note: string | null
  /** Whether articles are on their way to the next step. */
  moves?: boolean
}

function stepsOf({ flow, running, outlets, missing, lag }: Figures): Step[] {
  return [
    crawler(running, outlets?.length ?? null),
    pages(flow),
    normaliser(flow, running),
    articles(flow, lag),
    embedder(flow, running),
    vectors(flow, running),
    api(running, missing),
  ]
}

type Worker = 'crawler' | 'normaliser' | 'embedder'

function stateOf(running: RunningFleet | null, name: Worker, late = false): State {
  if (running === null) return 'unknown'
  if (running.processes[name] === 0) return 'bad'
  return late ? 'warn' : 'good'
}

const crawler = (running: RunningFleet | null, outlets: number | null): Step => ({
  name: 'Crawler',
  state: stateOf(running, 'crawler'),
  value: running?.visits ?? null,
  unit: running?.visits === 1 ? 'visit under way' : 'visits under way',
  note: outlets === null ? null : plural(outlets, 'outlet'),
  moves: running !== null && running.visits > 0,
})

const pages = (flow: Flow<string> | null): Step => ({
  name: 'Pages',
  value: flow?.pages.due ?? null,
  unit: 'to fetch now',
  note: flow && `${number(flow.pages.waiting - flow.pages.due)} later`,
  moves: flow !== null && flow.pages.stored > 0,
})

const normaliser = (flow: Flow<string> | null, running: RunningFleet | null): Step => ({
  name: 'Normaliser',
  state: stateOf(running, 'normaliser', flow !== null && pagesAreLate(flow)),
  value: flow?.pages.stored ?? null,
  unit: 'in hand or next',
  note: flow && (flow.pages.stored > 0 ? `oldest ${span(flow.pages.oldest)}` : 'nothing waits'),
  moves: flow !== null && flow.pages.stored > 0,
})

/**
 * New articles without a stored segment. More than this, four flushes, means that no process
 * flushes.
 */
const BACKLOG = 32_768

function articles(flow: Flow<string> | null, lag: LagHour[] | null): Step {
  const behind = flow !== null && flow.index.backlog > BACKLOG
  const lastTwo = lag?.slice(-2).reduce((sum, hour) => sum + hour.articles, 0)
  const news = lastTwo === undefined ? null : `${number(lastTwo)} crawled in two hours`
  return {
    name: 'Articles',
    value: flow?.articles ?? null,
    unit: 'indexed',
    note: behind ? `${number(flow.index.backlog)} without a segment` : news,
    moves: flow !== null && flow.embeddings.due > 0,
  }
}

const embedder = (flow: Flow<string> | null, running: RunningFleet | null): Step => ({
  name: 'Embedder',
  state: stateOf(running, 'embedder', flow !== null && embeddingsAreLate(flow)),
  value: flow?.embeddings.due ?? null,
  unit: 'due now',
  note: flow && `${number(flow.embeddings.promised)} promised`,
  moves: flow !== null && flow.embeddings.due > 0,
})

const vectors = (flow: Flow<string> | null, running: RunningFleet | null): Step => ({
  name: 'Vectors',
  value: flow?.embedded ?? null,
  unit: 'embedded',
  note:
    flow && flow.articles > 0
      ? `${Math.floor((flow.embedded / flow.articles) * 100)} % of articles`
      : null,
  moves: running !== null && running.requests > 0,
})

/** The API is there, because it answered this page. */
const api = (running: RunningFleet | null, missing: string[]): Step => ({
  name: 'API',
  state: missing.length === 0 ? 'good' : 'warn',
  value: running?.requests ?? null,
  unit: running?.requests === 1 ? 'request this minute' : 'requests this minute',
  note:
    running === null
      ? 'answers this page'
      : `${plural(running.processes.api, 'process', 'processes')}, ${plural(running.keys, 'key')}`,
})

const place = document.getElementById('page')
// The page is only in English, because operators read the same terms in logs, metrics, alarms and
// docs/operations.md.
const speech = await loadSpeech('en')
if (place !== null) {
  render(
    <SpeechContext.Provider value={speech}>
      <Status />
    </SpeechContext.Provider>,
    place,
  )
}

import type { Figures, Flow, LagHour, Running } from '../../shared/status/figures.ts'
import { embeddingsAreLate, pagesAreLate } from '../../shared/status/figures.ts'
import { number, plural, span } from './numbers.ts'

const WORDS: Record<State, string> = {
  good: 'running',
  warn: 'needs attention',
  bad: 'not there',
  unknown: 'not known',
}

/**
 * The way of an article: services are boxes with a light, stores are drums. The style draws them
 * from left to right, or on a narrow screen from top to bottom.
 */
export function Way({ figures }: { figures: Figures }) {
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

/** A service or a store on the way of an article. */
interface Step {
  name: string
  /** null: a store, which has none of its own. */
  state: State | null
  /** null: not known. */
  value: number | null
  unit: string
  note: string | null
  /** Whether articles are on their way to the next step. */
  moves: boolean
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

function stateOf(running: Running | null, name: Worker, late = false): State {
  if (running === null) return 'unknown'
  if (running.processes[name] === 0) return 'bad'
  return late ? 'warn' : 'good'
}

const crawler = (running: Running | null, outlets: number | null): Step => ({
  name: 'Crawler',
  state: stateOf(running, 'crawler'),
  value: running?.visits ?? null,
  unit: running?.visits === 1 ? 'visit under way' : 'visits under way',
  note: outlets === null ? null : plural(outlets, 'outlet'),
  moves: running !== null && running.visits > 0,
})

const pages = (flow: Flow<string> | null): Step => ({
  name: 'Pages',
  state: null,
  value: flow?.pages.due ?? null,
  unit: 'to fetch now',
  note: flow && `${number(flow.pages.waiting - flow.pages.due)} later`,
  moves: flow !== null && flow.pages.stored > 0,
})

const normaliser = (flow: Flow<string> | null, running: Running | null): Step => ({
  name: 'Normaliser',
  state: stateOf(running, 'normaliser', flow !== null && pagesAreLate(flow)),
  value: flow?.pages.stored ?? null,
  unit: 'in hand or next',
  note: flow && (flow.pages.stored > 0 ? `oldest ${span(flow.pages.oldest)}` : 'nothing waits'),
  moves: flow !== null && flow.pages.stored > 0,
})

/**
 * New articles without a stored segment: more than four flushes' worth means that nobody flushes.
 */
const BACKLOG = 32_768

function articles(flow: Flow<string> | null, lag: LagHour[] | null): Step {
  const behind = flow !== null && flow.index.backlog > BACKLOG
  const lastTwo = lag?.slice(-2).reduce((sum, hour) => sum + hour.articles, 0)
  const news = lastTwo === undefined ? null : `${number(lastTwo)} in two hours`
  return {
    name: 'Articles',
    state: null,
    value: flow?.articles ?? null,
    unit: 'indexed',
    note: behind ? `${number(flow.index.backlog)} without a segment` : news,
    moves: flow !== null && flow.embeddings.due > 0,
  }
}

const embedder = (flow: Flow<string> | null, running: Running | null): Step => ({
  name: 'Embedder',
  state: stateOf(running, 'embedder', flow !== null && embeddingsAreLate(flow)),
  value: flow?.embeddings.due ?? null,
  unit: 'due now',
  note: flow && `${number(flow.embeddings.promised)} promised`,
  moves: flow !== null && flow.embeddings.due > 0,
})

const vectors = (flow: Flow<string> | null, running: Running | null): Step => ({
  name: 'Vectors',
  state: null,
  value: flow?.embedded ?? null,
  unit: 'embedded',
  note: flow && flow.articles > 0 ? `${Math.floor((flow.embedded / flow.articles) * 100)} % of articles` : null,
  moves: running !== null && running.requests > 0,
})

function api(running: Running | null, missing: string[]): Step {
  const fine = missing.length === 0 ? 'good' : 'warn'
  return {
    name: 'API',
    state: missing.includes('postgres') ? 'bad' : fine,
    value: running?.requests ?? null,
    unit: running?.requests === 1 ? 'request this minute' : 'requests this minute',
    note: running && `${plural(running.processes.api, 'process', 'processes')}, ${plural(running.keys, 'key')}`,
    moves: false,
  }
}

import { useEffect, useState } from 'preact/hooks'
import type { Figures, Quarantined, QueueCounts } from '../../shared/status/figures.ts'
import { Bar, Footer } from '../parts/controls.tsx'
import { Way } from './flow.tsx'
import { LastDay } from './last-day.tsx'
import { MachineSection } from './machines.tsx'
import { ago, number, plural, span } from './numbers.ts'
import { Outlets } from './outlets.tsx'
import { type Problem, problemOfFailure } from './problems.ts'
import { useFigures, type Watch } from './use-figures.ts'

/** The page for operators: how the fleet is doing, at a glance. */
export function Status() {
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
        <Verdict service={service} problems={problemsNow(watch)} readAt={watch.readAt} />
        {figures && (
          <>
            <section aria-labelledby="flow-title">
              <h2 id="flow-title">The way of an article</h2>
              <Way figures={figures} />
            </section>
            <section aria-labelledby="lag-title">
              <h2 id="lag-title">The last 24 hours</h2>
              <LastDay hours={figures.lag} />
            </section>
            <div class="pair">
              <section aria-labelledby="queues-title">
                <h2 id="queues-title">Queues</h2>
                <QueueTable queues={figures.queues} />
              </section>
              <section aria-labelledby="quarantine-title">
                <h2 id="quarantine-title">Quarantine</h2>
                <Quarantine quarantine={figures.quarantine} at={figures.at} />
              </section>
            </div>
            <section aria-labelledby="machines-title">
              <h2 id="machines-title">Machines</h2>
              <MachineSection machines={figures.machines} />
            </section>
            <section aria-labelledby="outlets-title">
              <h2 id="outlets-title">Outlets</h2>
              <Outlets outlets={figures.outlets} at={figures.at} />
            </section>
          </>
        )}
      </main>
      <Footer />
    </>
  )
}

/** null: nothing is known yet. */
function problemsNow({ figures, failure }: Watch) {
  if (failure !== null) return [problemOfFailure(failure)]
  return figures?.causes ?? null
}

/** The header shows it already. */
const WORDMARK = 'Perscope'

/** How things are, in one glance: a word, its reasons, and the age of the figures. */
function Verdict(props: { service: string; problems: Problem[] | null; readAt: number }) {
  const { service, problems, readAt } = props
  return (
    <>
      <div class="row head">
        <h1>{service === WORDMARK ? 'Status' : `${service} status`}</h1>
        <p class={`verdict pill ${levelOf(problems)}`} role="status">
          {wordsOf(problems)}
        </p>
        <Age readAt={readAt} />
      </div>
      {problems !== null && problems.length > 0 && (
        <ul class="problems">
          {problems.map(({ level, text }) => (
            <li key={text} class={level}>
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
  const [now, setNow] = useState(readAt)
  useEffect(() => {
    setNow(Date.now())
    const tick = setInterval(() => setNow(Date.now()), 1_000)
    return () => clearInterval(tick)
  }, [readAt])
  if (readAt === 0) return null
  return <p class="updated">updated {span(Math.max(0, Math.round((now - readAt) / 1_000)))} ago</p>
}

const ABOUT = new Map([
  ['normalise', 'pages to normalise'],
  ['embed', 'articles to embed'],
])
const STATES = ['waiting', 'active', 'delayed', 'failed'] as const

function QueueTable({ queues }: { queues: Record<string, QueueCounts> | null }) {
  if (queues === null) return <p class="hint">Could not be read.</p>
  return (
    <table class="counts-table">
      <thead>
        <tr>
          <th scope="col">Queue</th>
          {STATES.map(state => (
            <th key={state} scope="col">
              {state}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {Object.entries(queues).map(([name, counts]) => (
          <tr key={name}>
            <th scope="row">
              {name} <small>{ABOUT.get(name)}</small>
            </th>
            {STATES.map(state => (
              <td key={state} class={counts[state] === 0 ? 'zero' : ''}>
                {number(counts[state])}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )
}

/** The newest that are shown; the command lists all. */
const NEWEST = 5

/** What failed for good, by reason, and the newest of it. */
function Quarantine({ quarantine, at }: Pick<Figures, 'quarantine' | 'at'>) {
  if (quarantine === null) return <p class="hint">Could not be read.</p>
  const { counts, newest } = quarantine
  if (counts.length === 0) return <p class="hint">Empty: nothing has failed for good.</p>
  return (
    <>
      <ul class="row reasons">
        {counts.map(({ kind, reason, n, ours }) => (
          <li key={`${kind} ${reason}`} class={ours ? 'pill warn' : 'pill'}>
            {kind === 'page' ? `${plural(n, 'page')}: ${reason}` : `${plural(n, 'article')} not embedded`}
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
        <code>npm run queues -- list</code> shows all of it, <code>npm run queues -- retry --all</code> gives it back.
      </p>
    </>
  )
}

function Failed({ one: { id, what, reason, detail, since }, now }: { one: Quarantined; now: number }) {
  const about = id.startsWith('page') ? [reason, id] : [id]
  return (
    <li>
      <small>{[ago(since, now), ...about].join(' · ')}</small>
      <span>{what}</span>
      {detail && <small>{detail}</small>}
    </li>
  )
}

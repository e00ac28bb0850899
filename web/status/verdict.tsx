import { useEffect, useState } from 'preact/hooks'
import type { Problem } from './figures/problem.ts'
import { plural, span } from './numbers.ts'

/** The header shows it already. */
const WORDMARK = 'Perscope'

/** How things are, in one glance: a word, its reasons, and the age of the figures. */
export function Verdict(props: { service: string; problems: Problem[] | null; readAt: number }) {
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

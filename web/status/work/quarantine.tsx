import type { Figures, Quarantined } from '../../../shared/status/figures.ts'
import { ago, plural } from '../numbers.ts'

/** The newest that are shown; the command lists all. */
const NEWEST = 5

/** What failed for good, by reason, and the newest of it. */
export function Quarantine({ quarantine, at }: Pick<Figures, 'quarantine' | 'at'>) {
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

import type { ComponentChildren } from 'preact'
import type { OutletHealth } from '../../../shared/status/figures.ts'
import { useSpeech } from '../../words/index.ts'
import { ago, span } from '../numbers.ts'
import { sourcesOf, troubleOf } from './trouble.ts'

const COLUMNS = ['Outlet', 'Last new article', 'Last read', 'Usual rhythm', 'Read from', 'Trouble'] as const
type Column = (typeof COLUMNS)[number]

/** A row for each outlet; on narrow screens a small card, for want of columns. */
export function OutletTable({ outlets, now }: { outlets: OutletHealth<string>[]; now: number }) {
  return (
    <table class="outlet-table">
      <thead>
        <tr>
          {COLUMNS.map(title => (
            <th key={title} scope="col">
              {title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {outlets.map(outlet => (
          <Row key={outlet.domain} outlet={outlet} now={now} />
        ))}
      </tbody>
    </table>
  )
}

function Row({ outlet, now }: { outlet: OutletHealth<string>; now: number }) {
  const { name, domain, country, health, lastNew, lastSuccess, rhythm } = outlet
  const trouble = troubleOf(outlet, now)
  return (
    <tr class={health}>
      <th scope="row">
        <span class="health pill">{health}</span>
        <span class="outlet-name">{name}</span>
        <small>
          {domain} · {country}
        </small>
      </th>
      <Cell of="Last new article" loud={health === 'silent'}>
        <When at={lastNew} now={now} />
      </Cell>
      <Cell of="Last read" loud={health === 'failing'}>
        <When at={lastSuccess} now={now} />
      </Cell>
      <Cell of="Usual rhythm">{rhythm === null ? 'not known' : `every ${span(rhythm / 1_000)}`}</Cell>
      <Cell of="Read from">{sourcesOf(outlet) || 'not known'}</Cell>
      <td data-label="Trouble" class={trouble === '' ? 'trouble none' : 'trouble'}>
        {trouble || 'none'}
      </td>
    </tr>
  )
}

/** The label stands before the figure where there are no columns. */
const Cell = ({ of, loud = false, children }: { of: Column; loud?: boolean; children: ComponentChildren }) => (
  <td data-label={of} class={loud ? 'loud' : ''}>
    {children}
  </td>
)

/** A time in words, exact on hover. */
function When({ at, now }: { at: string | null; now: number }) {
  const speech = useSpeech()
  if (at === null) return 'never'
  const time = new Date(at)
  return (
    <time dateTime={at} title={speech.date(time, 'moment')}>
      {ago(at, now)}
    </time>
  )
}

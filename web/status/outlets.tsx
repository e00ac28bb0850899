import { Fragment, type VNode } from 'preact'
import { useState } from 'preact/hooks'
import type { Figures, Machines, OutletHealth } from '#shared/figures'
import {
  ago,
  daysInWords,
  isOneMachine,
  mannersInWords,
  number,
  serversInWords,
  sourcesOf,
  span,
  troublesOf,
} from '#status/words'
import { Table } from '#web/parts/table.tsx'
import { useSpeech } from '#web/words/index'

const PAGE = 20
const KINDS = ['all', 'failing', 'blocked', 'silent', 'healthy'] as const
type Kind = (typeof KINDS)[number]

/**
 * The outlets, those in trouble first. They can be searched by name and filtered by health, and
 * appear page by page.
 */
export function Outlets({ outlets, at }: Pick<Figures, 'outlets' | 'at'>): VNode {
  const [kind, setKind] = useState<Kind>('all')
  const [word, setWord] = useState('')
  const [shown, setShown] = useState(PAGE)
  if (outlets === null) return <p class="hint">Could not be read.</p>
  if (outlets.length === 0) {
    return (
      <p class="hint">
        There are no outlets: <code>npm run outlets -- sync FILE</code> brings them.
      </p>
    )
  }
  const choose = (chosen: Kind) => {
    setKind(chosen)
    setShown(PAGE)
  }
  const search = (typed: string) => {
    setWord(typed)
    setShown(PAGE)
  }
  const found = outlets.filter(outlet => isOf(outlet, kind) && isNamed(outlet, word))
  const more = found.length - shown
  return (
    <>
      <div class="row choice">
        <Filters outlets={outlets} kind={kind} onChoose={choose} />
        <input
          type="search"
          aria-label="Find an outlet"
          placeholder="Find an outlet"
          autocomplete="off"
          value={word}
          onInput={event => search(event.currentTarget.value)}
        />
      </div>
      {found.length === 0 ? (
        <p class="hint">No outlet is like that.</p>
      ) : (
        // On narrow screens each row is a small card, because there is no room for columns.
        <div class="outlet-table">
          <Table
            columns={COLUMNS}
            figures={[]}
            rows={found.slice(0, shown).map(one => rowOf(one, Date.parse(at)))}
          />
        </div>
      )}
      {more > 0 && (
        <button type="button" class="more" onClick={() => setShown(shown + 2 * PAGE)}>
          Show {Math.min(more, 2 * PAGE)} more of {number(more)}
        </button>
      )}
    </>
  )
}

const isOf = ({ health }: OutletHealth<string>, kind: Kind) => kind === 'all' || health === kind
const isNamed = ({ name, domain }: OutletHealth<string>, word: string) =>
  `${name} ${domain}`.toLowerCase().includes(word.trim().toLowerCase())

function Filters(props: {
  outlets: OutletHealth<string>[]
  kind: Kind
  onChoose(kind: Kind): void
}) {
  const { outlets, kind, onChoose } = props
  return (
    <fieldset class="row" aria-label="Show outlets that are">
      {KINDS.map(one => (
        <button
          key={one}
          type="button"
          class={`chip ${one}`}
          aria-pressed={one === kind}
          onClick={() => onChoose(one)}
        >
          {one} <b>{number(outlets.filter(outlet => isOf(outlet, one)).length)}</b>
        </button>
      ))}
    </fieldset>
  )
}

const COLUMNS = [
  'Outlet',
  'Health',
  'Last new article',
  'Last read',
  'Usual rhythm',
  'We have',
  'Read from',
  'Trouble',
]

/** The cells in the row of an outlet. */
function rowOf(outlet: OutletHealth<string>, now: number) {
  const { name, domain, country, health, lastNew, lastSuccess, rhythm, days } = outlet
  return {
    key: domain,
    class: health,
    name: [
      <span key="name" class="outlet-name">
        {name}
      </span>,
      <small key="domain">
        {domain} · {country}
      </small>,
    ],
    cells: [
      <span key="health" class="health pill">
        {health}
      </span>,
      <When key="new" at={lastNew} now={now} isLoud={health === 'silent'} />,
      <When key="read" at={lastSuccess} now={now} isLoud={health === 'failing'} />,
      rhythm === null ? 'not known' : `every ${span(rhythm / 1_000)}`,
      [
        ...daysInWords(outlet, now).map(line => <div key={line}>{line}</div>),
        <small key="manners">{mannersInWords(days[0])}</small>,
      ],
      sourcesOf(outlet) || 'not known',
      troublesOf(outlet, now).join('; ') || null,
    ],
  }
}

/** A time in words; a hover shows the exact time. */
function When({ at, now, isLoud }: { at: string | null; now: number; isLoud: boolean }) {
  const speech = useSpeech()
  const tone = isLoud ? 'loud' : ''
  if (at === null) return <span class={tone}>never</span>
  return (
    <time class={tone} dateTime={at} title={speech.date(new Date(at), 'moment')}>
      {ago(at, now)}
    </time>
  )
}

const SERVICES = ['crawler', 'normaliser', 'embedder', 'notifier', 'api'] as const

const TONES = { bad: 'loud warn', none: 'zero', hint: 'hint', plain: '' }

/** Hosts, and the roles of the servers on them. When everything is on one machine, one line. */
export function MachineSection({ machines }: { machines: Machines | null }): VNode {
  if (machines === null) return <p class="hint">Could not be read.</p>
  if (isOneMachine(machines)) return <OneMachine machines={machines} />
  return (
    <div class="pair machines">
      <Hosts hosts={machines.hosts} />
      <dl class="servers">
        {serversInWords(machines).map(({ server, lines }) => (
          <Fragment key={server}>
            <dt>{server}</dt>
            {lines.map(({ what, more, tone }) => (
              <dd key={`${what} ${more}`} class={TONES[tone ?? 'plain']}>
                {what} {more && <small>{more}</small>}
              </dd>
            ))}
          </Fragment>
        ))}
      </dl>
    </div>
  )
}

function OneMachine({ machines: { vectors, redis } }: { machines: Machines }) {
  const stores = ['Postgres', ...(vectors ? ['Qdrant'] : []), ...(redis ? ['Redis'] : [])]
  const named = new Intl.ListFormat('en-GB').format(stores)
  return (
    <p>
      Everything runs on one machine; {named} {stores.length === 1 ? 'has' : 'have'} no copies
      elsewhere.
    </p>
  )
}

function Hosts({ hosts }: Pick<Machines, 'hosts'>) {
  if (hosts === null) return <p class="hint">The hosts could not be read.</p>
  const columns = SERVICES.map(name => (name === 'api' ? 'API' : name))
  const rows = hosts.map(one => ({ key: one.host, cells: SERVICES.map(name => one[name] ?? 0) }))
  return <Table columns={['Host', ...columns]} rows={rows} />
}

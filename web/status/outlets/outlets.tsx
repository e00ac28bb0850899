import { useState } from 'preact/hooks'
import type { Figures, OutletHealth } from '../../../shared/status/figures.ts'
import { number } from '../numbers.ts'
import { OutletTable } from './table.tsx'

const PAGE = 20
const KINDS = ['all', 'failing', 'silent', 'healthy'] as const
type Kind = (typeof KINDS)[number]

/** The outlets, those in trouble first: found by name, chosen by health, a page at a time. */
export function Outlets({ outlets, at }: Pick<Figures, 'outlets' | 'at'>) {
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
        <OutletTable outlets={found.slice(0, shown)} now={Date.parse(at)} />
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

function Filters(props: { outlets: OutletHealth<string>[]; kind: Kind; onChoose(kind: Kind): void }) {
  const { outlets, kind, onChoose } = props
  return (
    <fieldset class="row" aria-label="Show outlets that are">
      {KINDS.map(one => (
        <button key={one} type="button" class={`chip ${one}`} aria-pressed={one === kind} onClick={() => onChoose(one)}>
          {one} <b>{number(outlets.filter(outlet => isOf(outlet, one)).length)}</b>
        </button>
      ))}
    </fieldset>
  )
}

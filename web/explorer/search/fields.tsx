import type { ComponentChildren, VNode } from 'preact'
import { useCallback, useId, useState } from 'preact/hooks'
import { LIMITS } from '#services/api/contract/limits'
import { useStateOf, useWork } from '#web/parts/controls.tsx'
import { type Asking, ask, isListOf, type Outcome } from '#web/parts/request'
import { rest } from '#web/parts/time'
import { useSpeech } from '#web/words/index'
import type { Search } from './search.ts'

export interface FilterProps {
  search: Search
  /** Refusals of the API, by parameter. Each is shown beside its field. */
  errors: Record<string, string[]>
  onChange(change: Partial<Search>): void
}

/** A group of fields with its name, and the mistakes in it. */
export function Group(props: {
  label: string
  errors?: string[] | undefined
  /** The kind of mistake, which selects the words about it. */
  wrong?: 'dates' | 'reversed' | 'name' | 'other'
  /** The reader's way to correct the mistake. */
  mend?: ComponentChildren
  children: ComponentChildren
}): VNode {
  const { words } = useSpeech()
  return (
    <fieldset class="group">
      <legend>{props.label}</legend>
      {props.children}
      {props.errors !== undefined && (
        <p class="problem" role="alert">
          {words.filters.wrong[props.wrong ?? 'other']} {props.mend}
        </p>
      )}
    </fieldset>
  )
}

/**
 * A choice of one value (`radio`), or of any number of values (`checkbox`). Without a chosen
 * checkbox, all values count.
 */
export function Choice<V extends string>(props: {
  type?: 'radio' | 'checkbox'
  label: string
  name: string
  errors: string[] | undefined
  chosen: readonly V[]
  options: readonly (readonly [value: V, label: string])[]
  onChoose(value: V): void
}): VNode {
  const { type = 'radio', label, name, errors, chosen, options, onChoose } = props
  return (
    <Group label={label} errors={errors}>
      <div class="row choices">
        {options.map(([one, text]) => (
          <label key={one} class="choice">
            <input
              type={type}
              name={name}
              checked={chosen.includes(one)}
              onChange={() => onChoose(one)}
            />
            <span>{text}</span>
          </label>
        ))}
      </div>
    </Group>
  )
}

/** The chosen values after one of them is switched on or off. */
export const switched = <V extends string>(
  values: readonly V[],
  chosen: readonly V[],
  value: V,
): V[] => values.filter(one => (one === value) !== chosen.includes(one))

/** ms without typing after which suggestions are requested. */
const PAUSE = 180

/**
 * A field for a part of a name, with a list of existing names: a combobox by the ARIA practices.
 * The list only suggests: the reader may write any text.
 */
export function NameField(props: FilterProps & { field: 'outlet' | 'author' }): VNode {
  const { field, search, errors, onChange } = props
  const { words } = useSpeech()
  const id = useId()
  const value = search[field]
  const [text, setText] = useStateOf(value, value)
  const [open, setOpen] = useState(false)
  const [active, setActive] = useState(-1)
  const found = useSuggestions(field, open ? text : '').map(one => one.value)
  // The filter finds all outlets of one name.
  const names = [...new Set(found)]
  const shown = open && names.length > 0
  const apply = (name: string) => {
    setOpen(false)
    setActive(-1)
    setText(name)
    if (name.trim() !== value)
      onChange(field === 'outlet' ? { outlet: name.trim() } : { author: name.trim() })
  }
  const keys: Record<string, () => void> = {
    ArrowDown: () => setActive(before => moved(before, 1, names.length)),
    ArrowUp: () => setActive(before => moved(before, -1, names.length)),
    Enter: () => apply((shown ? names[active] : undefined) ?? text),
    ...(shown ? { Escape: () => setOpen(false) } : {}),
  }
  const label = words.filters[field]
  return (
    <Group label={label} errors={errors[field]} wrong="name">
      <div class="combobox">
        <input
          type="text"
          role="combobox"
          aria-label={label}
          aria-expanded={shown}
          aria-controls={id}
          aria-autocomplete="list"
          aria-invalid={errors[field] !== undefined}
          {...(shown && active >= 0 ? { 'aria-activedescendant': `${id}-${active}` } : {})}
          autocomplete="off"
          spellcheck={false}
          maxLength={2 * LIMITS[field]}
          placeholder={field === 'outlet' ? words.filters.outletHint : words.filters.authorHint}
          value={text}
          onInput={event => {
            setText(event.currentTarget.value)
            setActive(-1)
            setOpen(true)
          }}
          onBlur={() => apply(text)}
          onKeyDown={event => {
            const act = keys[event.key]
            if (act === undefined) return
            event.preventDefault()
            if (event.key.startsWith('Arrow')) setOpen(true)
            act()
          }}
        />
        <Options {...{ id, label, names, shown, active }} onChoose={apply} />
      </div>
    </Group>
  )
}

/**
 * The list of suggestions. The field above it keeps the focus, so the field also handles the keys.
 */
function Options(props: {
  id: string
  label: string
  names: string[]
  shown: boolean
  active: number
  onChoose(name: string): void
}) {
  const { id, label, names, shown, active, onChoose } = props
  const { words, say } = useSpeech()
  return (
    <>
      <div id={id} role="listbox" aria-label={label} hidden={!shown}>
        {names.map((name, index) => (
          <div
            key={name}
            id={`${id}-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === active}
            onPointerDown={event => {
              event.preventDefault()
              onChoose(name)
            }}
          >
            {name}
          </div>
        ))}
      </div>
      <span class="unseen" role="status">
        {shown ? say(words.filters.suggestions, { n: names.length }) : ''}
      </span>
    </>
  )
}

/**
 * The index of the next option. Beyond either end of the list, the result is -1, the index of the
 * field itself.
 */
const moved = (from: number, by: number, count: number) =>
  ((from + 1 + by + count + 1) % (count + 1)) - 1

/** A name that a filter takes; for an outlet, its domain, too. */
export interface Suggested {
  value: string
  outlet?: { name: string | null; domain: string | null }
}

export function askSuggestions(
  field: 'outlet' | 'author',
  q: string,
  asking?: Asking,
): Promise<Outcome<{ data: Suggested[] }>> {
  const path = `/explore/suggestions?${new URLSearchParams({ field, q })}`
  return ask(path, isListOf<Suggested>, asking)
}

/** Names that contain the text; none for an empty text. */
export function useSuggestions(field: 'outlet' | 'author', text: string): Suggested[] {
  const [names, setNames] = useState<Suggested[]>([])
  const look = useCallback(
    async (signal: AbortSignal) => {
      const q = text.trim()
      if (q === '') return setNames([])
      await rest(PAUSE, signal)
      // The field also works without suggestions.
      const answer = await askSuggestions(field, q, { signal })
      setNames(answer.kind === 'ok' ? answer.value.data : [])
    },
    [field, text],
  )
  useWork(look)
  return names
}

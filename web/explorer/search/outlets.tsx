import type { RefObject, VNode } from 'preact'
import { useCallback, useEffect, useId, useRef, useState } from 'preact/hooks'
import type { OutletSet } from '#clients/typescript/src/index'
import {
  Button,
  focusIfLost,
  Select,
  useAsking,
  useStateOf,
  useWork,
} from '#web/parts/controls.tsx'
import { FailureNotice, saidOf } from '#web/parts/failure-notice.tsx'
import { ask, askFile, type Failure, isListOf, isOneOf } from '#web/parts/request'
import { useSpeech } from '#web/words/index'
import { askSuggestions, type Suggested, useSuggestions } from './fields.tsx'
import { noteOutlet, outletName, useOutletNames } from './outlet-names.ts'
import { entriesOf, isDomain, type Search } from './search.ts'

/** How many letters the name of a set may have. */
export const LONGEST_SET_NAME = 60

/**
 * Several outlets at once: from the suggestions or by their domains, or a set of the key by its
 * name. Chosen outlets can be saved as a set.
 */
export function Outlets(props: { search: Search; onChange(change: Partial<Search>): void }): VNode {
  const { search, onChange } = props
  const { words, say } = useSpeech()
  const chosen = entriesOf(search.outlets)
  const domains = chosen.filter(isDomain)
  const { sets, wrong, save, rename } = useSets()
  const unknown = useUnknown(domains)
  useOutletNames()
  const [name, setName] = useState('')
  /** The set whose outlets are being changed. */
  const [changed, setChanged] = useState<string | null>(null)
  const choose = (entries: string[]) => onChange({ outlets: [...new Set(entries)].join() })
  const added = useRef<HTMLInputElement>(null)
  const yours = useRef<HTMLSelectElement>(null)
  /** The set that has the name that is typed: small and capital letters are the same. */
  const same = sets.find(one => name.trim().toLowerCase() === one.name.toLowerCase())
  const known = sets.find(one => chosen.includes(one.name.toLowerCase()))
  /** The set that the form would give another name. */
  const renamed = same === undefined ? changed : null
  const isOver = chosen.length === 0
  useEffect(() => {
    if (isOver) setChanged(null)
  }, [isOver])
  /** Ends a change: the search names the set again. */
  const showSet = (of: string) => {
    setChanged(null)
    choose([of])
    focusIfLost(() => yours.current)
  }
  const saveSet = async () => {
    if (await save(name, domains)) showSet(name.trim())
  }
  const renameSet = async (before: string, to: string) => {
    if (!(await rename(before, to))) return
    // Should the second step fail, saving again changes the outlets of the renamed set.
    setChanged(to)
    const present = sets
      .find(one => one.name === before)
      ?.domains.toSorted()
      .join()
    if (domains.toSorted().join() === present || (await save(to, domains))) showSet(to)
  }
  return (
    <>
      <p class="hint">{words.sets.named}</p>
      {chosen.length > 0 && (
        <ul class="row chips">
          {chosen.map(one => (
            <li key={one}>
              <Button
                class="chip"
                aria-label={say(words.filters.remove, { name: outletName(one) })}
                title={one}
                onClick={() => {
                  choose(chosen.filter(other => other !== one))
                  focusIfLost(() => added.current)
                }}
                text={`${outletName(one)} ×`}
              />
            </li>
          ))}
        </ul>
      )}
      {unknown.length > 0 && (
        <p class="problem">{say(words.sets.unknown, { domains: unknown.join(', ') })}</p>
      )}
      <AddOutlet field={added} onAdd={one => choose([...chosen, one])} />
      {sets.length > 0 && (
        <label>
          {words.sets.yours}
          <Select
            ref={yours}
            value={known?.name ?? changed ?? ''}
            options={['', ...sets.map(one => one.name)].map(one => [one, one])}
            onChoose={chosen => {
              setChanged(null)
              choose(chosen === '' ? [] : [chosen])
            }}
          />
        </label>
      )}
      {known !== undefined && (
        <Button
          class="link"
          onClick={() => {
            setName(known.name)
            setChanged(known.name)
            choose(known.domains)
            focusIfLost(() => added.current)
          }}
          text={words.sets.edit}
        />
      )}
      {domains.length > 0 && domains.length === chosen.length && (
        <form
          onSubmit={event => {
            event.preventDefault()
            void (renamed === null ? saveSet() : renameSet(renamed, name.trim()))
          }}
        >
          {same !== undefined && (
            <p role="status">{say(words.sets.changing, { name: same.name })}</p>
          )}
          {renamed !== null && <p role="status">{say(words.sets.copying, { name: renamed })}</p>}
          <label>
            {words.sets.name}
            <input
              required
              maxLength={LONGEST_SET_NAME}
              value={name}
              onInput={event => setName(event.currentTarget.value)}
            />
          </label>
          <span class="row">
            {/* The same button throughout, so it keeps the focus when its text changes. */}
            <Button
              type="submit"
              of={renamed ?? undefined}
              text={
                renamed !== null
                  ? words.kept.rename
                  : same === undefined
                    ? words.sets.save
                    : words.sets.change
              }
            />
            {renamed !== null && (
              <Button
                onClick={event => event.currentTarget.form?.reportValidity() && saveSet()}
                text={words.sets.save}
              />
            )}
            {changed !== null && (
              <Button class="quiet" onClick={() => showSet(changed)} text={words.take.cancel} />
            )}
          </span>
        </form>
      )}
      {wrong !== '' && (
        <p class="problem" role="alert">
          {wrong}
        </p>
      )}
    </>
  )
}

const domainOf = (one: Suggested | undefined) => one?.outlet?.domain

/** A field that adds an outlet: a suggestion, or a domain that somebody writes. */
function AddOutlet(props: {
  field: RefObject<HTMLInputElement | null>
  onAdd(domain: string): void
}) {
  const { field, onAdd } = props
  const { words, say } = useSpeech()
  const [text, setText] = useState('')
  const [problem, setProblem] = useStateOf(text, '')
  const [failure, setFailure] = useStateOf<Failure | null>(text, null)
  const shown = useRef(text)
  shown.current = text
  const id = useId()
  const found = useSuggestions('outlet', text)
  const add = (domain: string) => {
    setText('')
    onAdd(domain.trim().toLowerCase())
  }
  const enter = async () => {
    const q = text.trim()
    if (q === '' || isDomain(q)) return q === '' ? undefined : add(q)
    const answer = await askSuggestions('outlet', q)
    // The reader has typed on.
    if (shown.current !== text) return
    setFailure(answer.kind === 'failure' ? answer : null)
    if (answer.kind === 'failure') return
    const named = answer.value.data
    const isName = ({ outlet }: Suggested) => outlet?.name?.toLowerCase() === q.toLowerCase()
    const domain = domainOf(named.length === 1 ? named[0] : named.find(isName))
    if (domain) add(domain)
    else setProblem(say(named.length === 0 ? words.sets.none : words.sets.many, { name: q }))
  }
  return (
    <>
      <label>
        {words.sets.add}
        <input
          ref={field}
          list={id}
          aria-describedby={`${id}-problem`}
          aria-invalid={problem !== ''}
          autocomplete="off"
          spellcheck={false}
          value={text}
          placeholder={words.filters.outletHint}
          onInput={event => {
            const typed = event.currentTarget.value
            // A choice from the list writes the whole domain at once.
            if (found.some(one => domainOf(one) === typed)) add(typed)
            else setText(typed)
          }}
          onKeyDown={event => {
            if (event.key !== 'Enter') return
            event.preventDefault()
            void enter()
          }}
        />
        <datalist id={id}>
          {found.map(one => (
            <option key={domainOf(one) ?? one.value} value={domainOf(one) ?? ''}>
              {one.outlet?.name}
            </option>
          ))}
        </datalist>
      </label>
      <span id={`${id}-problem`} class="problem" role="alert">
        {problem}
      </span>
      {failure !== null && <FailureNotice failure={failure} onAgain={enter} />}
    </>
  )
}

/** The sets of outlets of a key, and what changes them. */
interface Sets {
  sets: OutletSet[]
  /** Why the last change was refused; empty: it was not. */
  wrong: string
  save(name: string, domains: string[]): Promise<boolean>
  rename(name: string, to: string): Promise<boolean>
  remove(name: string): Promise<void>
}

const pathOf = (name: string) => `/explore/outlet-sets/${encodeURIComponent(name)}`

export function useSets(): Sets {
  const speech = useSpeech()
  const [sets, setSets] = useState<OutletSet[]>([])
  const { failure, told } = useAsking()
  const look = useCallback(
    async (signal?: AbortSignal) => {
      const path = '/explore/outlet-sets'
      const answer = await told(ask(path, isListOf<OutletSet>, { signal }))
      if (answer === null) return
      for (const { name, outlets } of answer.data)
        for (const one of [...outlets, { name, domain: name.toLowerCase() }]) noteOutlet(one)
      setSets(answer.data)
    },
    [told],
  )
  useWork(look)
  const put = async (name: string, body: { domains: string[] } | { name: string }) => {
    const path = pathOf(name.trim())
    const made = await told(ask(path, isOneOf<OutletSet>, { method: 'PUT', body }))
    if (made !== null) await look()
    return made !== null
  }
  return {
    sets,
    wrong: failure === null ? '' : saidOf(failure, speech),
    save: (name, domains) => put(name, { domains }),
    rename: (name, to) => put(name, { name: to }),
    async remove(name: string): Promise<void> {
      const gone = await told(askFile(pathOf(name), { method: 'DELETE' }))
      if (gone !== null) await look()
    },
  }
}

/** Domains that no outlet of the plan has; one that was asked about stays known. */
function useUnknown(domains: string[]): string[] {
  const [known, setKnown] = useState<ReadonlyMap<string, boolean>>(new Map())
  const all = domains.join()
  const look = useCallback(
    async (signal: AbortSignal) => {
      for (const domain of all === '' ? [] : all.split(',')) {
        const answer = await askSuggestions('outlet', domain, { signal })
        if (answer.kind === 'failure') return
        const there = answer.value.data.find(one => one.outlet?.domain === domain)
        if (there?.outlet) noteOutlet(there.outlet)
        setKnown(before => new Map(before).set(domain, there !== undefined))
      }
    },
    [all],
  )
  useWork(look)
  return domains.filter(domain => known.get(domain) === false)
}

import type { VNode } from 'preact'
import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import type { AlertTerms, KeptSearch, WhatIsNew } from '#clients/typescript/src/index'
import { sentencesOf } from '#search/browser'
import { Button, useAsking, useReturn, useTitle, useWork } from '#web/parts/controls.tsx'
import { FailureNotice } from '#web/parts/failure-notice.tsx'
import { ask, askFile, isRecord, type Outcome } from '#web/parts/request'
import { type Forms, useSpeech } from '#web/words/index'
import { askNew, dropMarks, noteFresh, noteMarks, readMarks } from './search/fresh.ts'
import { inWords } from './search/in-words.ts'
import { useOutletNames } from './search/outlet-names.ts'
import { LONGEST_SET_NAME, useSets } from './search/outlets.tsx'
import { readQuery } from './search/reading.ts'
import { readStored, type Search } from './search/search.ts'
import { KEPT, NEWS, viewOf } from './search/view.ts'
import { saveFile } from './take/download.ts'
import { LONGEST_TITLE } from './take/take.tsx'
import { isKeptList, keptPath, setAlert, Telling } from './take/telling.tsx'

// The browser loads these parts when it first shows one of them. They are one file, because one
// file compresses well.
export { CitePage } from './take/cite.tsx'
export { Take } from './take/take.tsx'

const byMeaning = (search: string) => /(^|&)search=semantic(&|$)/.test(search)

/**
 * Counts what is new. A search that cannot be counted keeps no other one from it.
 *
 * @returns `refused`: why, by the id of such a search
 */
async function countNew(
  marks: Record<string, string | null>,
  signal: AbortSignal | undefined,
): Promise<{ news: WhatIsNew[]; refused: ReadonlyMap<string, string> }> {
  const refused = new Map<string, string>()
  for (;;) {
    const answer = await askNew(marks, signal)
    if (answer.kind === 'ok') return { news: answer.value.data, refused }
    const { errors, message } = answer
    const sentences = [...(errors.marks ?? []), message].map(one => /^(\w+): (.+)$/s.exec(one))
    const known = sentences.flatMap(one => (one?.[1] !== undefined && one[1] in marks ? [one] : []))
    if (known.length === 0) {
      // After a failover or a restore, marks end. The next look begins anew.
      if ('marks' in errors) dropMarks()
      return { news: [], refused }
    }
    for (const [, id = '', why = ''] of known) {
      refused.set(id, why)
      delete marks[id]
    }
  }
}

function useKept() {
  const [kept, setKept] = useState<KeptSearch[] | null>(null)
  const [noMail, setNoMail] = useState<string | null>(null)
  const [fresh, setFresh] = useState<ReadonlyMap<string, WhatIsNew>>(new Map())
  const [refused, setRefused] = useState<ReadonlyMap<string, string>>(new Map())
  const { failure, told } = useAsking()
  const look = useCallback(
    async (signal?: AbortSignal) => {
      const answer = await told(ask('/explore/searches', isKeptList, { signal }))
      if (answer === null) return
      setKept(answer.data)
      setNoMail(answer.no_mail ?? null)
      const known = readMarks()
      // New articles cannot be counted for a search by meaning.
      const asked = answer.data.filter(({ search }) => !byMeaning(search))
      const marks = Object.fromEntries(asked.map(({ id }) => [id, known[id] ?? null]))
      if (asked.length === 0) return
      const { news, refused } = await countNew(marks, signal)
      setRefused(refused)
      setFresh(new Map(news.map(one => [one.id, one])))
      // A program or another device kept it: its first mark is of now.
      const begun = news
        .filter(({ id }) => known[id] === undefined)
        .map(({ id, mark }) => [id, mark])
      noteMarks(Object.fromEntries(begun))
    },
    [told],
  )
  useWork(look)
  const done = async (asked: Promise<Outcome<NonNullable<unknown>>>) => {
    const isDone = (await told(asked)) !== null
    if (isDone) await look()
    return isDone
  }
  return {
    kept,
    noMail,
    fresh,
    refused,
    failure,
    look: () => look(),
    /**
     * Records that the articles of a search are seen. The next count begins after them, and their
     * list marks those that were new.
     */
    see({ id, search }: KeptSearch) {
      const one = fresh.get(id)
      if (one === undefined) return
      noteMarks({ [id]: one.mark })
      if (one.new > 0 && one.since) noteFresh(readStored(search), one.since)
    },
    change: (id: string, body: { name: string } | { position: number }) =>
      done(ask(keptPath(id), isRecord, { method: 'PATCH', body })),
    remove: (id: string) => done(askFile(keptPath(id), { method: 'DELETE' })),
    async alert(id: string, terms: AlertTerms) {
      const answer = await setAlert(id, terms)
      if (answer.kind === 'set') await look()
      return answer
    },
    end: (id: string, what: 'alert' | 'feed') =>
      done(askFile(`${keptPath(id)}/${what}`, { method: 'DELETE' })),
    async save() {
      const file = await told(askFile('/explore/feeds.opml'))
      if (file !== null) saveFile(file, 'perscope-feeds.opml')
    },
  }
}

/**
 * The searches that the key keeps, in their order: what each asks, how much is new to it, and whom
 * it tells. Below them are the sets of outlets.
 */
export function KeptPage({ onForget }: { onForget(): void }): VNode {
  const { words } = useSpeech()
  const desk = useKept()
  const { kept, failure, look, change, save } = desk
  // The owner of an address agrees elsewhere.
  useReturn(kept?.some(({ alert }) => alert?.state === 'asked') ?? false, look)
  useOutletNames()
  const [dragged, setDragged] = useState<number | null>(null)
  useTitle(words.kept.title)
  /** Moves a search to the place of another. */
  const move = (from: number, to: number) => {
    const one = kept?.[from]
    const place = kept?.[to]
    if (one !== undefined && place !== undefined && from !== to)
      void change(one.id, { position: place.position })
  }
  return (
    <main class="wide alone" id="results" aria-busy={kept === null && failure === null}>
      <h1 tabIndex={-1}>{words.kept.title}</h1>
      {failure !== null && <FailureNotice failure={failure} onAgain={look} onForget={onForget} />}
      {kept !== null && (
        <p class="hint">{kept.length === 0 ? words.kept.none : words.kept.about}</p>
      )}
      <ol class="kept">
        {kept?.map((one, at) => (
          <li
            key={one.id}
            class={dragged === at ? 'stale' : ''}
            draggable
            onDragStart={() => setDragged(at)}
            onDragOver={event => event.preventDefault()}
            onDragEnd={() => setDragged(null)}
            onDrop={event => {
              event.preventDefault()
              if (dragged !== null) move(dragged, at)
              setDragged(null)
            }}
          >
            <Kept
              {...{ one, desk }}
              isFirst={at === 0}
              isLast={at === kept.length - 1}
              onMove={by => move(at, at + by)}
            />
          </li>
        ))}
      </ol>
      {kept?.some(({ feed }) => feed !== null) && (
        <p>
          <Button onClick={save} text={words.take.opml} />
        </p>
      )}
      <Sets onRenamed={look} />
    </main>
  )
}

/** A kept search: its name, its query in words, what is new, and whom it tells. */
function Kept(props: {
  one: KeptSearch
  desk: ReturnType<typeof useKept>
  isFirst: boolean
  isLast: boolean
  onMove(by: 1 | -1): void
}) {
  const { one, desk, isFirst, isLast, onMove } = props
  const { id, name, search, alert, feed } = one
  const speech = useSpeech()
  const { words, number, say } = speech
  const [isNaming, setNaming] = useState(false)
  // Fingers cannot drag: they get buttons.
  const [isMoving, setMoving] = useState(false)
  const news = desk.fresh.get(id)
  const why = desk.refused.get(id)
  const stored = readStored(search)
  // What came last begins the list, although it may have been published before.
  const shown: Search = news?.new ? { ...stored, sort: 'ingested_at', order: 'desc' } : stored
  const said = inWords(stored, speech)
  const reading = readQuery(stored)
  // The API names the place of a mistake in English.
  const mistake =
    reading.kind === 'misread'
      ? sentencesOf(reading.misread, words.reading.expression).join(' ')
      : null
  const counted = (forms: Forms, n: number) =>
    say(forms, { n: `${number(n)}${news?.more ? '+' : ''}` }, n)
  const found = [
    ...(news === undefined ? [] : [counted(words.results.total, news.new)]),
    ...(news === undefined || news.texts === news.new
      ? []
      : [counted(words.copies.texts, news.texts)]),
  ]
  const moves = { ArrowUp: -1, ArrowDown: 1 } as const
  return (
    <>
      <div class="row">
        <button
          type="button"
          class="quiet handle"
          aria-label={say(words.app.named, { name: words.kept.move, value: name })}
          title={words.kept.moveAbout}
          aria-expanded={isMoving}
          onClick={() => setMoving(!isMoving)}
          onKeyDown={event => {
            if (event.key !== 'ArrowUp' && event.key !== 'ArrowDown') return
            event.preventDefault()
            onMove(moves[event.key])
          }}
        >
          ⠿
        </button>
        {isMoving &&
          (['ArrowUp', 'ArrowDown'] as const).map(key => (
            <Button
              key={key}
              of={name}
              // A button that is disabled would lose the focus to the page.
              aria-disabled={key === 'ArrowUp' ? isFirst : isLast}
              onClick={() => onMove(moves[key])}
              text={words.kept[key === 'ArrowUp' ? 'up' : 'down']}
            />
          ))}
        {isNaming ? (
          <Rename
            name={name}
            longest={LONGEST_TITLE}
            onGive={given => desk.change(id, { name: given })}
            onClose={() => setNaming(false)}
          />
        ) : (
          <a
            class="name"
            href={viewOf(shown, { [KEPT]: [id], [NEWS]: news?.new ? ['true'] : [] })}
            onClick={() => desk.see(one)}
            // The middle button opens a new tab, and clicks nothing.
            onAuxClick={event => event.button === 1 && desk.see(one)}
          >
            {name}
          </a>
        )}
        {news !== undefined && news.new > 0 && (
          <b class="pill fresh">{say(words.kept.fresh, { found: found.join(', ') })}</b>
        )}
        <span class="row does">
          <Button
            class="quiet"
            of={name}
            onClick={() => setNaming(true)}
            text={words.kept.rename}
          />
          <Remove
            name={name}
            question={say(words.kept.sure, { name })}
            onRemove={() => desk.remove(id)}
          />
        </span>
      </div>
      {said !== name && <p class="hint">{said}</p>}
      {why !== undefined && <p class="hint problem">{mistake ?? speech.heard([why]) ?? why}</p>}
      {byMeaning(search) && <p class="hint">{words.kept.byMeaning}</p>}
      <Telling
        {...{ name, feed }}
        noMail={desk.noMail}
        alert={alert?.reason && mistake !== null ? { ...alert, reason: mistake } : alert}
        // Mails lead to the settings of a search.
        isOpen={new URLSearchParams(location.search).get('search') === id}
        id={async () => id}
        isOfWords={!byMeaning(search)}
        onSet={terms => desk.alert(id, terms)}
        onEnd={what => desk.end(id, what)}
        onFeed={desk.look}
      />
    </>
  )
}

const focus = (element: HTMLElement | null) => element?.focus()

/**
 * A field for another name. Enter and leaving the field give the name. Escape, and an empty field,
 * leave the name as it is.
 *
 * @param props.onGive gives the name; false: it was refused, and what was typed stays
 */
function Rename(props: {
  name: string
  /** How many letters a name may have. */
  longest: number
  onGive(given: string): Promise<boolean>
  onClose(): void
}) {
  const { name, longest, onGive, onClose } = props
  const { words, say } = useSpeech()
  // Another device may rename the search meanwhile. What nobody typed does not undo that.
  const before = useRef(name).current
  const [typed, setTyped] = useState(before)
  const field = useRef<HTMLInputElement>(null)
  const isOver = useRef(false)
  useEffect(() => focus(field.current), [])
  const end = async (written: string) => {
    if (isOver.current) return
    isOver.current = true
    const given = written.trim()
    isOver.current = ['', before, name].includes(given) || (await onGive(given))
    if (!isOver.current) return
    const { current } = field
    if (document.activeElement === current)
      focus(current?.parentElement?.querySelector<HTMLElement>('.does button') ?? null)
    onClose()
  }
  return (
    <input
      ref={field}
      value={typed}
      maxLength={longest}
      aria-label={say(words.app.named, { name: words.kept.rename, value: name })}
      onInput={event => setTyped(event.currentTarget.value)}
      onKeyDown={event => {
        if (event.key !== 'Enter' && event.key !== 'Escape') return
        // Otherwise the key would press the button that gets the focus.
        event.preventDefault()
        void end(event.key === 'Enter' ? typed : before)
      }}
      onBlur={() => end(typed)}
    />
  )
}

/** A button that asks before it removes something, because nothing brings it back. */
function Remove(props: { name: string; question: string; onRemove(): Promise<unknown> }) {
  const { name, question, onRemove } = props
  const { words } = useSpeech()
  const [isAsked, setAsked] = useState(false)
  const own = useRef<HTMLSpanElement>(null)
  const ask = (asked: boolean) => {
    setAsked(asked)
    // The button that was pressed is gone.
    setTimeout(() => focus(own.current?.querySelector<HTMLElement>('button:last-child') ?? null))
  }
  const remove = async () => {
    const title = own.current?.closest('section, main')?.querySelector<HTMLElement>('h1, h2')
    await onRemove()
    // Whoever reads by keys goes on at the list that is left.
    setTimeout(() => (own.current === null ? focus(title ?? null) : ask(false)))
  }
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: Escape answers no, as its button does
    <span
      class="row"
      ref={own}
      onKeyDown={event => isAsked && event.key === 'Escape' && ask(false)}
    >
      {isAsked ? (
        <>
          <span role="alert">{question}</span>
          <Button class="primary" of={name} onClick={remove} text={words.kept.remove} />
          <Button class="quiet" onClick={() => ask(false)} text={words.take.cancel} />
        </>
      ) : (
        <Button class="quiet" of={name} onClick={() => ask(true)} text={words.kept.remove} />
      )}
    </span>
  )
}

/** Focuses what changes a set with another name, if the focus was in the row that is gone. */
const focusLost = (row: HTMLElement | null) => {
  if (document.activeElement === document.body)
    focus(row?.querySelector<HTMLElement>('.does button') ?? null)
}

/** The sets of outlets of the key. They are made where outlets are chosen. */
function Sets({ onRenamed }: { onRenamed(): Promise<void> }) {
  const { words, say } = useSpeech()
  const { sets, wrong, rename, remove } = useSets()
  /** The set that was changed last. */
  const [changed, setChanged] = useState('')
  const [named, setNamed] = useState('')
  return (
    <section>
      <h2 tabIndex={-1}>{words.sets.title}</h2>
      {wrong !== '' && changed === '' && (
        <p class="problem" role="alert">
          {wrong}
        </p>
      )}
      <p class="hint">{words.sets.about}</p>
      <ul class="kept">
        {sets.map(({ name, outlets, unknown }) => (
          <li key={name} ref={name === changed ? focusLost : null}>
            <div class="row">
              {name === named ? (
                <Rename
                  name={name}
                  longest={LONGEST_SET_NAME}
                  onGive={async given => {
                    setChanged(name)
                    if (!(await rename(name, given))) return false
                    setChanged(given)
                    await onRenamed()
                    return true
                  }}
                  onClose={() => setNamed('')}
                />
              ) : (
                <a class="name" href={`/?${new URLSearchParams({ outlets: name })}`}>
                  {name}
                </a>
              )}
              <span class="row does">
                <Button
                  class="quiet"
                  of={name}
                  onClick={() => setNamed(name)}
                  text={words.kept.rename}
                />
                <Remove
                  name={name}
                  question={say(words.sets.sure, { name })}
                  onRemove={() => {
                    setChanged(name)
                    return remove(name)
                  }}
                />
              </span>
            </div>
            {wrong !== '' && changed === name && (
              <p class="problem" role="alert">
                {wrong}
              </p>
            )}
            <p class="hint">{outlets.map(one => one.name ?? one.domain).join(', ')}</p>
            {unknown.length > 0 && (
              <p class="hint problem">{say(words.sets.unknown, { domains: unknown.join(', ') })}</p>
            )}
          </li>
        ))}
      </ul>
    </section>
  )
}

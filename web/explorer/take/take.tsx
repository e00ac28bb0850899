import type { RefObject, VNode } from 'preact'
import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { AlertTerms, KeptSearch } from '#clients/typescript/src/index'
import { LIMITS } from '#services/api/contract/limits'
import { LANGUAGES } from '#shared/articles/article'
import { CloseLine, useCounts } from '#web/explorer/insights/counts.tsx'
import { beginMark } from '#web/explorer/search/fresh'
import { inWords } from '#web/explorer/search/in-words'
import { useOutletNames } from '#web/explorer/search/outlet-names'
import {
  questionOf,
  readStored,
  type Search,
  type Way,
  writeSearch,
} from '#web/explorer/search/search'
import { KEPT, NEWS, parametersHere } from '#web/explorer/search/view'
import {
  Button,
  CopyButton,
  focusIfLost,
  Segments,
  useAsking,
  useNow,
  useReturn,
  useStateOf,
  useWork,
} from '#web/parts/controls.tsx'
import { FailureNotice } from '#web/parts/failure-notice.tsx'
import { ask, askFile, isOneOf } from '#web/parts/request'
import { beginOf, daysBefore, localDay } from '#web/parts/time'
import { loadSpeech, type Speech, useSpeech } from '#web/words/index'
import { CitePanel } from './cite.tsx'
import { CODE_LANGUAGES, type CodeLanguage, codeOf } from './code.ts'
import { Compare } from './compare.tsx'
import {
  type Download,
  FORMATS,
  type Format,
  openSink,
  type Progress,
  startDownload,
  WRITERS,
} from './download.ts'
import { isKeptList, keptPath, setAlert, Telling } from './telling.tsx'

/**
 * The open panel. Panels that were opened before stay hidden on the page, so that a download
 * continues.
 *
 * @param props.open null: no panel
 */
export function Take({
  search,
  open,
  onClose,
}: {
  search: Search
  open: Way | null
  onClose(): void
}): VNode {
  const { words } = useSpeech()
  const [opened, setOpened] = useState<Way[]>([])
  useEffect(() => {
    if (open !== null) setOpened(before => [...new Set([...before, open])])
  }, [open])
  const shown = useRef<HTMLElement>(null)
  const isShown = open !== null && opened.includes(open)
  useEffect(() => {
    if (!isShown) return
    // A comparison is tall, so its drawing would begin below the window.
    if (open === 'compare') shown.current?.scrollIntoView()
    // Keys go on in the panel of the button that was pressed, not in one that the address opens.
    if (document.activeElement?.closest('.ways')) shown.current?.focus({ preventScroll: true })
  }, [isShown, open])
  return (
    <>
      {opened.map(way => (
        <section
          key={way}
          ref={way === open ? shown : null}
          class="take"
          aria-label={words.take[way]}
          tabIndex={-1}
          hidden={way !== open}
          onKeyDown={event => {
            if (event.key === 'Escape' && !event.defaultPrevented) onClose()
          }}
        >
          {way === 'download' && <DownloadPanel search={search} />}
          {(way === 'keep' || way === 'tell') && (
            <KeepPanel search={search} tells={way === 'tell'} />
          )}
          {way === 'code' && <Code search={search} />}
          {way === 'cite' && <CitePanel search={search} />}
          {way === 'compare' && <Compare search={search} isShown={way === open} />}
        </section>
      ))}
    </>
  )
}

function Code({ search }: { search: Search }) {
  const { words } = useSpeech()
  const [language, setLanguage] = useState<CodeLanguage>('curl')
  const code = codeOf(search, location.origin, language)
  return (
    <section class="code">
      <h3>{words.take.code}</h3>
      <p class="hint">{words.take.codeAbout}</p>
      <div class="row">
        <Segments
          label={words.take.code}
          name="code"
          values={CODE_LANGUAGES}
          value={language}
          nameOf={one => one}
          onChoose={one => setLanguage(one)}
        />
        <CopyButton text={code} />
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: keys scroll what is wider than the screen */}
      <pre tabIndex={0}>
        <code>{code}</code>
      </pre>
    </section>
  )
}

/**
 * All results as a file. The download shows its progress, can pause, and leaves nothing when it is
 * cancelled.
 */
function DownloadPanel({ search }: { search: Search }) {
  const speech = useSpeech()
  const { words } = speech
  const [progress, setProgress] = useState<Progress | null>(null)
  const running = useRef<Download | null>(null)
  // A download keeps its search, and continues while the user makes other searches. It ends when
  // this panel is removed from the page.
  useEffect(() => () => running.current?.cancel(), [])
  const over = progress === null || progress.kind === 'done' || progress.kind === 'tooLarge'
  useWarning(!over)
  // Draws the panel again each second, for a countdown.
  useNow(progress?.kind === 'waiting' ? 1_000 : null)

  const start = async (format: Format) => {
    const sink = await openSink(`perscope-${localDay(new Date())}.${format}`, WRITERS[format].type)
    if (sink === null) return
    running.current = startDownload({ search, format, sink, tell: setProgress })
  }
  const end = () => {
    running.current?.cancel()
    running.current = null
    setProgress(null)
  }
  return (
    <section class="download">
      <h3>{words.take.download}</h3>
      <p class="hint">{words.take.downloadAbout}</p>
      <CloseLine search={search} sentence={words.take.close} />
      {over ? (
        <p class="row">
          {FORMATS.map(format => (
            <Button key={format} onClick={() => start(format)} text={format.toUpperCase()} />
          ))}
        </p>
      ) : (
        <Running progress={progress} running={running} onEnd={end} />
      )}
      <p role="status">{progress && sentenceOf(progress, speech)}</p>
      {progress?.kind === 'paused' && progress.failure !== null && (
        <FailureNotice failure={progress.failure} onAgain={() => running.current?.resume()} />
      )}
    </section>
  )
}

type Unfinished = Exclude<Progress, { kind: 'done' | 'tooLarge' }>

function Running(props: {
  progress: Unfinished
  running: RefObject<Download | null>
  onEnd(): void
}) {
  const { progress, running, onEnd } = props
  const { words } = useSpeech()
  return (
    <>
      <progress
        aria-label={words.take.download}
        max={Math.max(1, progress.total)}
        {...(progress.estimate ? {} : { value: progress.written })}
      />
      <p class="row">
        {progress.kind === 'paused' ? (
          <Button
            class="primary"
            onClick={() => running.current?.resume()}
            text={words.take.resume}
          />
        ) : (
          <Button onClick={() => running.current?.pause()} text={words.take.pause} />
        )}
        <Button onClick={onEnd} text={words.take.cancel} />
      </p>
    </>
  )
}

/** Makes the browser ask before it leaves the page. */
function useWarning(on: boolean): void {
  useEffect(() => {
    if (!on) return
    const warn = (event: BeforeUnloadEvent) => event.preventDefault()
    addEventListener('beforeunload', warn)
    return () => removeEventListener('beforeunload', warn)
  }, [on])
}

function sentenceOf(progress: Progress, speech: Speech): string {
  const { words, number, say, wait } = speech
  switch (progress.kind) {
    case 'done':
      return say(words.take.done, { n: progress.written })
    case 'tooLarge':
      return words.take.tooLarge
    case 'waiting': {
      const seconds = Math.max(1, Math.ceil((progress.until - performance.now()) / 1_000))
      return `${words.failure.rate_limit_exceeded} ${say(words.failure.in, { wait: wait(seconds) })}.`
    }
    default:
      return say(words.take.writtenOf, {
        n: progress.written,
        total: `${number(progress.total)}${progress.estimate ? '+' : ''}`,
      })
  }
}

/**
 * What a kept search asks after its change. The page showed first what was new to it, for once, so
 * its own order stays unless the reader chose one.
 */
function changedTo(search: Search, before: KeptSearch): string {
  const { sort, order } = parametersHere().has(NEWS) ? readStored(before.search) : search
  return String(writeSearch({ ...search, sort, order }))
}

/** The name that the page proposes. */
const nameOf = (search: Search, speech: Speech) =>
  [...inWords(search, speech)].slice(0, LONGEST_TITLE).join('')

const folded = (name: string) => name.normalize('NFC').trim().toLowerCase()

/** Whether the page proposed the name of a kept search, in whatever language it was shown. */
async function isProposed({ name, search }: KeptSearch): Promise<boolean> {
  const speeches = await Promise.all(LANGUAGES.map(loadSpeech))
  const stored = readStored(search)
  return speeches.some(speech => folded(nameOf(stored, speech)) === folded(name))
}

/**
 * Keeps the search, under a name. The panel "Tell me" also says whom it tells, and keeps the search
 * when that is set.
 */
function KeepPanel({ search, tells }: { search: Search; tells: boolean }) {
  const speech = useSpeech()
  const { words } = speech
  const [kept, setKept] = useStateOf<KeptSearch | null>(search, null)
  const [title, setTitle] = useStateOf<string | null>(search, null)
  // The kept search from which the page was opened, when it asks something else by now.
  const [origin, setOrigin] = useState<KeptSearch | null>(null)
  // The form of an alert begins with the alert that the search has.
  const [isLooked, setLooked] = useState(false)
  const [noMail, setNoMail] = useState<string | null>(null)
  // A second Enter keeps nothing more.
  const [isKeeping, setKeeping] = useStateOf(search, false)
  const { failure, told } = useAsking()
  const status = useRef<HTMLParagraphElement>(null)
  const goOn = () => focusIfLost(() => status.current)
  useOutletNames()
  const usual = nameOf(search, speech)
  const own = title?.trim()
  const question = questionOf(search)
  const isOfWords = search.mode !== 'semantic'
  const look = useCallback(
    async (signal?: AbortSignal) => {
      const path = '/explore/searches'
      const answer = await told(ask(path, isKeptList, { signal }))
      const same = answer?.data.find(one => questionOf(readStored(one.search)) === question)
      if (same !== undefined) setKept(same)
      const from = parametersHere().get(KEPT)
      setOrigin(answer?.data.find(({ id }) => id === from) ?? null)
      setNoMail(answer?.no_mail ?? null)
      setLooked(true)
    },
    [told, question],
  )
  useWork(look)
  useReturn(kept?.alert?.state === 'asked', look)
  const keep = async () => {
    if (kept !== null) return kept.id
    if (isKeeping) return null
    setKeeping(true)
    const body = { search: String(writeSearch(search)), name: own || usual }
    const path = '/explore/searches'
    const made = await told(ask(path, isOneOf<KeptSearch>, { method: 'POST', body }))
    setKeeping(false)
    if (made === null) return null
    setKept(made.data)
    goOn()
    if (isOfWords) await beginMark(made.data.id)
    return made.data.id
  }
  const change = async (before: KeptSearch) => {
    const { id } = before
    // A name that says the search says the new one; any other stays when none is typed.
    const given = own || ((await isProposed(before)) ? usual : undefined)
    const body = { name: given, search: changedTo(search, before) }
    const changed = await told(ask(keptPath(id), isOneOf<KeptSearch>, { method: 'PATCH', body }))
    if (changed === null) return
    setKept(changed.data)
    goOn()
    if (isOfWords) await beginMark(id)
  }
  const remove = (id: string) => told(askFile(keptPath(id), { method: 'DELETE' }))
  const set = async (terms: AlertTerms) => {
    const id = await keep()
    if (id === null) return null
    const answer = await setAlert(id, terms)
    // A search that was kept for an alert alone is not kept without it.
    const isLeft = kept === null && answer.kind === 'failure' && (await remove(id)) !== null
    if (isLeft) setKept(null)
    else await look()
    return answer
  }
  const end = async (what: 'alert' | 'feed') => {
    await told(askFile(`${keptPath(kept?.id ?? '')}/${what}`, { method: 'DELETE' }))
    await look()
  }
  const tellsAbout = isOfWords ? words.alert.about : words.take.feedMeaning
  const keepsAbout = isOfWords ? words.kept.about : words.kept.byMeaning
  return (
    <section class="feeds">
      <h3>{tells ? words.take.tell : words.take.keep}</h3>
      <p class="hint">{tells ? tellsAbout : keepsAbout}</p>
      <KeepForm
        {...{ kept, origin, tells, status }}
        name={title ?? usual}
        onName={setTitle}
        onKeep={keep}
        onChange={change}
      />
      {tells && isLooked && (
        <>
          <Telling
            key={question}
            name={kept?.name ?? usual}
            alert={kept?.alert ?? null}
            feed={kept?.feed ?? null}
            noMail={noMail}
            isOfWords={isOfWords}
            isOpen
            id={keep}
            onSet={set}
            onEnd={end}
            onFeed={() => look()}
          />
          <FeedSize search={search} />
        </>
      )}
      {failure !== null && <FailureNotice failure={failure} onAgain={() => look()} />}
    </section>
  )
}

/** The name under which a search is kept, or was. */
function KeepForm(props: {
  kept: KeptSearch | null
  origin: KeptSearch | null
  tells: boolean
  name: string
  status: RefObject<HTMLParagraphElement | null>
  onName(name: string): void
  onKeep(): void
  onChange(origin: KeptSearch): void
}) {
  const { kept, origin, tells, name, status, onName, onKeep, onChange } = props
  const { words, say } = useSpeech()
  // One element in both cases, so that what stands below it is not made anew.
  return (
    <form
      onSubmit={event => {
        event.preventDefault()
        onKeep()
      }}
    >
      {kept === null ? (
        <label>
          {words.kept.name}
          <input
            value={name}
            maxLength={LONGEST_TITLE}
            onInput={event => onName(event.currentTarget.value)}
          />
        </label>
      ) : (
        <p ref={status} role="status" tabIndex={-1}>
          {words.kept.kept} <b>{kept.name}</b>
        </p>
      )}
      <p class="row">
        {kept === null && !tells && (
          <button type="submit" class="primary">
            {words.kept.keep}
          </button>
        )}
        {kept === null && origin !== null && (
          <Button
            onClick={() => onChange(origin)}
            text={say(words.kept.change, { name: origin.name })}
          />
        )}
        <a href="/searches">{words.kept.title}</a>
      </p>
    </form>
  )
}

/** Articles of a feed whose search gives no number. */
const FEED_SIZE = LIMITS.perPage.maximum

/** Says how many articles the feed holds, and whether a day of this week had more. */
function FeedSize({ search }: { search: Search }) {
  const { words, say } = useSpeech()
  const week = useMemo(() => {
    const publishedAfter = beginOf(daysBefore(new Date(), 6))
    // This does not apply to feeds of a search by meaning, and a search with an end finds nothing
    // new.
    const isFollowed = search.mode !== 'semantic' && search.publishedBefore === ''
    return isFollowed && !(search.publishedAfter > publishedAfter)
      ? { ...search, publishedAfter }
      : null
  }, [search])
  const { counts } = useCounts(week, 'day', 0)
  const most = Math.max(0, ...(counts?.data ?? []).map(({ count }) => count))
  return (
    <>
      <p class="hint">{say(words.take.feedHolds, { n: FEED_SIZE })}</p>
      <CloseLine search={search} sentence={words.take.feedClose} />
      {most > FEED_SIZE && (
        <p class="hint" role="status">
          {say(words.take.feedFull, { most, n: FEED_SIZE })}
        </p>
      )}
    </>
  )
}

/** The most UTF-16 units of a title. The API counts code points, of which a text never has more. */
export const LONGEST_TITLE = 191

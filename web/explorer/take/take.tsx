import type { RefObject } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { CopyButton, Segments } from '../../parts/controls.tsx'
import { FailureNotice } from '../../parts/failure-notice.tsx'
import { localDay, wait } from '../../parts/time.ts'
import { type Speech, useSpeech } from '../../words/index.ts'
import type { Search } from '../search/search.ts'
import { CODE_LANGUAGES, type CodeLanguage, codeOf } from './code.ts'
import { type Download, FORMATS, type Format, openSink, type Progress, startDownload, WRITERS } from './download.ts'
import { FeedPanel } from './feed-panel.tsx'

/** What can be done with a search elsewhere: a file, a feed, a program. */
export const WAYS = ['download', 'feed', 'code'] as const
export type Way = (typeof WAYS)[number]

/**
 * The panel that is open. One that was opened stays when another is opened: a download goes on.
 *
 * @param props.open null: none
 */
export function Take({ search, secret, open }: { search: Search; secret: string; open: Way | null }) {
  const [opened, setOpened] = useState<Way[]>([])
  useEffect(() => {
    if (open !== null) setOpened(before => [...new Set([...before, open])])
  }, [open])
  return (
    <>
      {opened.map(way => (
        <div key={way} class="take" hidden={way !== open}>
          {way === 'download' && <DownloadPanel search={search} secret={secret} />}
          {way === 'feed' && <FeedPanel search={search} secret={secret} />}
          {way === 'code' && <Code search={search} />}
        </div>
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
          label={words.take.codeLanguage}
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

/** All results as a file: with progress, a pause, and an end that leaves nothing behind. */
function DownloadPanel({ search, secret }: { search: Search; secret: string }) {
  const speech = useSpeech()
  const { words } = speech
  const [progress, setProgress] = useState<Progress | null>(null)
  const running = useRef<Download | null>(null)
  // A download belongs to its search, and goes on while others are made; it ends with the page.
  useEffect(() => () => running.current?.cancel(), [])
  const over = progress === null || progress.kind === 'done' || progress.kind === 'tooLarge'
  useWarning(!over)
  useTick(progress?.kind === 'waiting')

  const start = async (format: Format) => {
    const sink = await openSink(`perscope-${localDay(new Date())}.${format}`, WRITERS[format].type)
    if (sink === null) return
    running.current = startDownload({ search, key: secret, format, sink, tell: setProgress })
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
      {over ? (
        <p class="row">
          {FORMATS.map(format => (
            <button key={format} type="button" onClick={() => start(format)}>
              {format.toUpperCase()}
            </button>
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

function Running(props: { progress: Unfinished; running: RefObject<Download | null>; onEnd(): void }) {
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
          <button type="button" class="primary" onClick={() => running.current?.resume()}>
            {words.take.resume}
          </button>
        ) : (
          <button type="button" onClick={() => running.current?.pause()}>
            {words.take.pause}
          </button>
        )}
        <button type="button" onClick={onEnd}>
          {words.take.cancel}
        </button>
      </p>
    </>
  )
}

/** Has the browser ask before it leaves the page. */
function useWarning(on: boolean): void {
  useEffect(() => {
    if (!on) return
    const warn = (event: BeforeUnloadEvent) => event.preventDefault()
    addEventListener('beforeunload', warn)
    return () => removeEventListener('beforeunload', warn)
  }, [on])
}

/** Draws anew each second, for a countdown. */
function useTick(on: boolean): void {
  const [, tick] = useState(0)
  useEffect(() => {
    if (!on) return
    const timer = setInterval(() => tick(before => before + 1), 1_000)
    return () => clearInterval(timer)
  }, [on])
}

function sentenceOf(progress: Progress, speech: Speech): string {
  const { words, number } = speech
  const written = number(progress.written)
  switch (progress.kind) {
    case 'done':
      return words.take.done(written, progress.written === 1)
    case 'tooLarge':
      return words.take.tooLarge
    case 'waiting': {
      const seconds = Math.max(1, Math.ceil((progress.until - performance.now()) / 1_000))
      return `${words.failure.rate_limit_exceeded} ${words.failure.in(wait(seconds, speech))}.`
    }
    default:
      return progress.estimate ? words.take.written(written) : words.take.writtenOf(written, number(progress.total))
  }
}

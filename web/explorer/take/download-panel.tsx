import { useEffect, useRef, useState } from 'preact/hooks'
import { FailureNotice } from '../../parts/failure-notice.tsx'
import { wait } from '../../parts/time.ts'
import { type Speech, useSpeech } from '../../words/index.ts'
import { localDay } from '../filters/days.ts'
import type { Search } from '../search/search.ts'
import { type Download, type Progress, startDownload } from './download.ts'
import { type Format, WRITERS } from './formats.ts'
import { openSink } from './sink.ts'

/** All results as a file: with progress, a pause, and an end that leaves nothing behind. */
export function DownloadPanel({ search, secret }: { search: Search; secret: string }) {
  const speech = useSpeech()
  const { words } = speech
  const [progress, setProgress] = useState<Progress | null>(null)
  const running = useRef<Download | null>(null)
  // A download belongs to its search, and goes on while others are made; it ends with the page.
  useEffect(() => () => running.current?.cancel(), [])
  useEffect(() => {
    if (progress === null || progress.kind === 'done') return
    const warn = (event: BeforeUnloadEvent) => event.preventDefault()
    addEventListener('beforeunload', warn)
    return () => removeEventListener('beforeunload', warn)
  }, [progress])

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
  const over = progress === null || progress.kind === 'done' || progress.kind === 'tooLarge'
  return (
    <section class="download">
      <h3>{words.take.download}</h3>
      <p class="hint">{words.take.downloadAbout}</p>
      {over ? (
        <p class="row">
          <button type="button" onClick={() => start('csv')}>
            CSV
          </button>
          <button type="button" onClick={() => start('ndjson')}>
            NDJSON
          </button>
        </p>
      ) : (
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
            <button type="button" onClick={end}>
              {words.take.cancel}
            </button>
          </p>
        </>
      )}
      <p role="status">{progress && sentenceOf(progress, speech)}</p>
      {progress?.kind === 'paused' && progress.failure !== null && (
        <FailureNotice failure={progress.failure} onAgain={() => running.current?.resume()} />
      )}
    </section>
  )
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
      return words.take.done(written)
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

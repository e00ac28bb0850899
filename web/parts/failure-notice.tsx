import type { VNode } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { type Speech, useSpeech } from '#web/words/index'
import { Button } from './controls.tsx'
import type { Failure } from './request.ts'

type Kind = keyof Speech['words']['failure']['title']

/** The kinds of failures, by code. Other codes mean a fault of the server. */
const KINDS: Partial<Record<string, Kind>> = {
  offline: 'offline',
  missing_token: 'key',
  invalid_token: 'key',
  rate_limit_exceeded: 'wait',
  too_many_failed_attempts: 'wait',
  quota_exceeded: 'month',
  invalid_request: 'request',
  country_not_included: 'plan',
  history_not_included: 'plan',
  too_many_feeds: 'plan',
  too_many_searches: 'plan',
  too_many_citations: 'plan',
  semantic_search_unavailable: 'semantic',
}

/** What the API says of a first day after the last one. */
const REVERSED = 'It must not lie before published_after.'

function adviceOf(failure: Failure, speech: Speech): string {
  const { code, errors } = failure
  const { words } = speech
  if (errors.cursor !== undefined) return words.failure.expired
  if (code === 'internal_error') return words.failure.server
  if (errors.published_before?.includes(REVERSED)) return words.filters.wrong.reversed
  const said = speech.heard(Object.values(errors).flat())
  return said ?? ofCode(failure, speech) ?? saidOf(failure, speech)
}

/** The page's own words for a code. */
function ofCode({ code }: Failure, { words }: Speech): string | undefined {
  const own = Object.entries(words.failure).find(([name]) => name === code)?.[1]
  return typeof own === 'string' ? own : undefined
}

/**
 * What the API says of a failure, in the language of the page. Where the page has no words for it,
 * the API's own.
 */
export function saidOf(failure: Failure, speech: Speech): string {
  const { errors, message } = failure
  const all = Object.values(errors).flat()
  const own = all.length > 0 ? undefined : ofCode(failure, speech)
  const sentences = all.length > 0 ? all : [message]
  // Without an answer the message is empty, which English would repeat.
  return speech.heard(sentences) || own || sentences.join(' ') || speech.words.failure.server
}

/**
 * Failures that end by themselves. The page tries again when the API says, or when the network is
 * back.
 */
const goesOn = ({ code, retryAfter }: Failure) =>
  code === 'offline' || (retryAfter !== null && !STAYS.test(code))

/** What may last for weeks, and the lock of an address, which another wrong key begins anew. */
const STAYS = /^(quota_exceeded|too_many_failed_attempts)$/

/** Seconds between two attempts while no answer comes. */
const OFFLINE_PAUSE = 10

/**
 * A failure in words, with the possible actions. Where only waiting helps, it shows a countdown.
 */
export function FailureNotice({
  failure,
  onAgain,
  onByWords,
  onForget,
}: {
  failure: Failure
  onAgain(): void
  onByWords?: () => void
  onForget?: () => void
}): VNode {
  const speech = useSpeech()
  const { words, say, wait } = speech
  const left = useCountdown(failure, onAgain)
  const kind = KINDS[failure.code] ?? 'server'
  // The same request would be refused again, unless its list of results is only too old.
  const isLasting = /^(request|plan)$/.test(kind) && failure.errors.cursor === undefined
  return (
    <section class={`notice ${kind}`} role="alert">
      <h2>{words.failure.title[kind]}</h2>
      <p>{adviceOf(failure, speech)}</p>
      <p class="row">
        {kind === 'key' && onForget ? (
          <Button class="primary" onClick={onForget} text={words.key.forget} />
        ) : (
          !isLasting && <Button onClick={onAgain} text={words.failure.again} />
        )}
        {kind === 'semantic' && onByWords && (
          <Button class="primary" onClick={onByWords} text={words.failure.byWords} />
        )}
        {left !== null && left > 0 && (
          <span aria-hidden="true">{say(words.failure.in, { wait: wait(left) })}</span>
        )}
        {kind === 'server' && failure.requestId !== '' && (
          <small>{say(words.failure.request, { id: failure.requestId })}</small>
        )}
      </p>
    </section>
  )
}

/** Seconds that are left to wait; null: no wait. */
function useCountdown(failure: Failure, onAgain: () => void): number | null {
  const [left, setLeft] = useState<number | null>(null)
  // With this reference, a redraw of the page does not restart the wait.
  const again = useRef(onAgain)
  again.current = onAgain
  useEffect(() => {
    const seconds = failure.retryAfter ?? (failure.code === 'offline' ? OFFLINE_PAUSE : null)
    setLeft(seconds)
    if (seconds === null) return
    const end = performance.now() + seconds * 1_000
    const tick = setInterval(() => {
      const rest = Math.ceil((end - performance.now()) / 1_000)
      setLeft(Math.max(0, rest))
      if (rest > 0) return
      clearInterval(tick)
      if (goesOn(failure)) again.current()
    }, 500)
    const back = () => failure.code === 'offline' && again.current()
    addEventListener('online', back)
    return () => {
      clearInterval(tick)
      removeEventListener('online', back)
    }
  }, [failure])
  return left
}

import type { ComponentChildren, ComponentProps, VNode } from 'preact'
import { useCallback, useEffect, useState } from 'preact/hooks'
import { LANGUAGES, type Language, OWN_NAMES } from '#shared/articles/article'
import { useSpeech } from '#web/words/index'
import type { Failure, Outcome } from './request.ts'

/*
 * Parts that all pages share: buttons, header and footer, and the hooks that end requests when a
 * part is removed.
 */

/**
 * A choice between a few values, side by side. They are radio buttons, so arrow keys move between
 * them.
 *
 * @param about the effect of each choice, shown when a pointer rests on it
 */
export function Segments<V extends string>(props: {
  label: string
  name: string
  values: readonly V[]
  value: V
  nameOf(value: V): string
  about?: Record<V, string>
  onChoose(value: V): void
}): VNode {
  const { label, name, values, value, nameOf, about, onChoose } = props
  return (
    <fieldset class="segments">
      <legend class="unseen">{label}</legend>
      {values.map(one => (
        <label key={one} {...(about === undefined ? {} : { title: about[one] })}>
          <input
            type="radio"
            name={name}
            value={one}
            checked={one === value}
            onChange={() => onChoose(one)}
          />
          <span>{nameOf(one)}</span>
        </label>
      ))}
    </fieldset>
  )
}

/** A choice between values in a list that opens, each with its name and the name's language. */
export function Select<V extends string | number>({
  options,
  onChoose,
  ...attributes
}: ComponentProps<'select'> & {
  value: V
  options: readonly (readonly [value: V, name: string | undefined, lang?: string])[]
  onChoose(value: V): void
}): VNode {
  return (
    <select
      {...attributes}
      onChange={event => {
        const chosen = options[event.currentTarget.selectedIndex]
        if (chosen !== undefined) onChoose(chosen[0])
      }}
    >
      {options.map(([one, name, lang]) => (
        <option key={one} value={one} lang={lang}>
          {name}
        </option>
      ))}
    </select>
  )
}

/** The languages, each by its own name, as the options of a `Select`. */
export const LANGUAGE_OPTIONS: [Language, string, Language][] = LANGUAGES.map(one => [
  one,
  OWN_NAMES[one],
  one,
])

/**
 * A part of the page that is open on wide screens, and folded on narrow ones. Its content is made
 * when it is first opened, so it requests nothing before.
 *
 * @param minWidth a length of CSS. From this width on, the style hides the summary
 */
export function Unfolding(props: {
  title: string
  className: string
  minWidth: string
  children: ComponentChildren
}): VNode {
  const { title, className, minWidth, children } = props
  const [open, setOpen] = useState(() => matchMedia(`(min-width: ${minWidth})`).matches)
  const [opened, setOpened] = useState(open)
  useEffect(() => {
    const room = matchMedia(`(min-width: ${minWidth})`)
    const look = () => setOpen(room.matches)
    room.addEventListener('change', look)
    return () => room.removeEventListener('change', look)
  }, [minWidth])
  useEffect(() => {
    if (open) setOpened(true)
  }, [open])
  return (
    <details
      class={`unfolding ${className}`}
      open={open}
      onToggle={event => setOpen(event.currentTarget.open)}
    >
      <summary>{title}</summary>
      {opened && children}
    </details>
  )
}

/**
 * A button that sends no form.
 *
 * @param props.of the thing that the button acts on, when several buttons have the same text
 */
export function Button({
  text,
  of,
  ...attributes
}: ComponentProps<'button'> & { text: string; of?: string | undefined }): VNode {
  const { words, say } = useSpeech()
  return (
    <button
      type="button"
      {...(of === undefined
        ? {}
        : { 'aria-label': say(words.app.named, { name: text, value: of }) })}
      {...attributes}
    >
      {text}
    </button>
  )
}

/**
 * Moves the focus on when the button that had it is gone. Otherwise, whoever reads by keys would
 * begin the page anew.
 *
 * @param place is looked for when the page is drawn without the button
 */
export function focusIfLost(place: () => HTMLElement | null | undefined): void {
  setTimeout(() => {
    if (document.activeElement === document.body) place()?.focus({ preventScroll: true })
  })
}

/** Copies a text, and confirms it. */
export function CopyButton({ text }: { text: string }): VNode {
  const { words } = useSpeech()
  const [state, setState] = useState<'copied' | 'failed' | null>(null)
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text)
      setState('copied')
    } catch {
      // Without https a browser may have no clipboard for pages.
      setState('failed')
    }
    setTimeout(() => setState(null), 4_000)
  }
  return (
    <span class="copy">
      <Button onClick={copy} text={words.app.copy} />{' '}
      <span role="status">
        {state === null ? '' : state === 'copied' ? words.app.copied : words.app.copyFailed}
      </span>
    </span>
  )
}

/** @param onForget null: there is no key */
export function Header({
  onLanguage,
  onForget,
}: {
  onLanguage(language: Language): void
  onForget: (() => void) | null
}): VNode {
  const { words, language } = useSpeech()
  return (
    <Bar>
      <Select
        aria-label={words.app.language}
        value={language}
        options={LANGUAGE_OPTIONS}
        onChoose={onLanguage}
      />
      {onForget && <a href="/searches">{words.kept.title}</a>}
      {onForget && <Button class="quiet" onClick={onForget} text={words.key.forget} />}
    </Bar>
  )
}

/** The head of a page: the name, which leads to `/`, and the content on the opposite side. */
export function Bar({ children }: { children: ComponentChildren }): VNode {
  return (
    <header class="header row">
      <a class="wordmark" href="/">
        Perscope
      </a>
      <nav class="row">{children}</nav>
    </header>
  )
}

export function Footer(): VNode {
  const { words } = useSpeech()
  return (
    <footer class="footer">
      <a href="/docs">{words.app.docs}</a>
    </footer>
  )
}

/**
 * State that belongs to `owner`. For another owner it becomes `start` again, in the same rendering.
 * An effect would be too late: it could empty a field after its first letters are typed.
 */
export function useStateOf<T>(owner: unknown, start: T): [T, (value: T) => void] {
  const [held, hold] = useState({ owner, value: start })
  return [held.owner === owner ? held.value : start, value => hold({ owner, value })]
}

/**
 * Runs work for a part of the page. The work ends when the part is removed, or when other work
 * replaces it.
 *
 * @param work made with `useCallback`; its errors are ignored
 */
export function useWork(work: (signal: AbortSignal) => Promise<void>): void {
  useEffect(() => {
    const end = new AbortController()
    work(end.signal).catch(() => {})
    return () => end.abort()
  }, [work])
}

/** Names the page in its title. */
export function useTitle(name: string): void {
  useEffect(() => {
    document.title = `${name} – Perscope`
  }, [name])
}

/**
 * Listens to an event of the window.
 *
 * @param isFirst whether the listener runs before those of the part in which the event happens
 */
export function useEvent<T extends keyof WindowEventMap>(
  type: T,
  listener: (event: WindowEventMap[T]) => void,
  isFirst = false,
): void {
  useEffect(() => {
    addEventListener(type, listener, isFirst)
    return () => removeEventListener(type, listener, isFirst)
  }, [type, listener, isFirst])
}

/** Looks again whenever the reader comes back to the page. */
export function useReturn(isWanted: boolean, look: () => void): void {
  useEffect(() => {
    if (!isWanted) return
    const back = () => document.visibilityState === 'visible' && look()
    document.addEventListener('visibilitychange', back)
    addEventListener('focus', back)
    return () => {
      document.removeEventListener('visibilitychange', back)
      removeEventListener('focus', back)
    }
  }, [isWanted, look])
}

/** Requests of a part of the page. */
export interface Requests {
  /** The failure of the last request; null: it succeeded. */
  failure: Failure | null
  /** Waits for a request; null: it failed. */
  told<T extends NonNullable<unknown>>(asked: Promise<Outcome<T>>): Promise<T | null>
}

export function useAsking(): Requests {
  const [failure, setFailure] = useState<Failure | null>(null)
  const told = useCallback(
    async <T extends NonNullable<unknown>>(asked: Promise<Outcome<T>>): Promise<T | null> => {
      const answer = await asked
      setFailure(answer.kind === 'failure' ? answer : null)
      return answer.kind === 'ok' ? answer.value : null
    },
    [],
  )
  return { failure, told }
}

/**
 * Loads the exports of a file when they are first needed, so that the first view does not wait for
 * them.
 *
 * @param load always the same function
 */
export function useLater<T extends object>(isWanted: boolean, load: () => Promise<T>): Partial<T> {
  const [file, setFile] = useState<Partial<T>>({})
  useEffect(() => {
    if (isWanted) load().then(setFile, () => {})
  }, [isWanted, load])
  return file
}

/**
 * The current time in ms, updated every `every` ms.
 *
 * @param every null: the time is never updated
 */
export function useNow(every: number | null): number {
  const [now, setNow] = useState(() => Date.now())
  useEffect(() => {
    if (every === null) return
    const tick = setInterval(() => setNow(Date.now()), every)
    return () => clearInterval(tick)
  }, [every])
  return now
}

import { useState } from 'preact/hooks'
import { useSpeech } from '../words/index.ts'

/** Copies a text, and says so. */
export function CopyButton({ text }: { text: string }) {
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
      <button type="button" onClick={copy}>
        {words.app.copy}
      </button>{' '}
      <span role="status">{state === null ? '' : state === 'copied' ? words.app.copied : words.app.copyFailed}</span>
    </span>
  )
}

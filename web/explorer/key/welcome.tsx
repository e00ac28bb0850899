import { useState } from 'preact/hooks'
import { useSpeech } from '../../words/index.ts'

/** What somebody without a key sees: what this is, how to get a key, and where to put it. */
export function Welcome({ said, onKey }: { said: string; onKey(key: string): void }) {
  const { words } = useSpeech()
  return (
    <main class="welcome" id="results">
      <h1>{words.app.tagline}</h1>
      <p role="status" class="said">
        {said}
      </p>
      <p class="lead">{words.key.about}</p>
      <KeyForm onKey={onKey} />
      <h2>{words.key.title}</h2>
      <p>{words.key.how}</p>
      <pre>
        <code>npm run keys -- create --name me --countries NL,BE,LU --history-days 365 --rate 60</code>
      </pre>
      <p>{words.key.started}</p>
    </main>
  )
}

function KeyForm({ onKey }: { onKey(key: string): void }) {
  const { words } = useSpeech()
  const [problem, setProblem] = useState('')
  return (
    <form
      class="key-form"
      onSubmit={event => {
        event.preventDefault()
        const field = event.currentTarget.elements.namedItem('key')
        const key = field instanceof HTMLInputElement ? field.value.trim() : ''
        if (key === '') setProblem(words.key.empty)
        else onKey(key)
      }}
    >
      <label for="key">{words.key.label}</label>
      <div class="row">
        <input
          id="key"
          name="key"
          type="password"
          autocomplete="off"
          spellcheck={false}
          aria-describedby="key-hint key-problem"
          aria-invalid={problem !== ''}
        />
        <button type="submit" class="primary">
          {words.key.use}
        </button>
      </div>
      <p id="key-problem" class="problem" role="alert">
        {problem}
      </p>
      <p id="key-hint" class="hint">
        {words.key.hint}
      </p>
    </form>
  )
}

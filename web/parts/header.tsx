import type { ComponentChildren } from 'preact'
import { LANGUAGES, type Language } from '../../shared/articles/article.ts'
import { useSpeech } from '../words/index.ts'

/** Each language by its own name, so that its speakers find it. */
const OWN_NAMES: Record<Language, string> = {
  nl: 'Nederlands',
  fr: 'Français',
  de: 'Deutsch',
  lb: 'Lëtzebuergesch',
  en: 'English',
}

/** @param onForget null: there is no key */
export function Header({
  onLanguage,
  onForget,
}: {
  onLanguage(language: Language): void
  onForget: (() => void) | null
}) {
  const { words, language } = useSpeech()
  return (
    <Bar>
      <select
        aria-label={words.app.language}
        value={language}
        onChange={event => {
          const chosen = LANGUAGES.find(one => one === event.currentTarget.value)
          if (chosen !== undefined) onLanguage(chosen)
        }}
      >
        {LANGUAGES.map(one => (
          <option key={one} value={one} lang={one}>
            {OWN_NAMES[one]}
          </option>
        ))}
      </select>
      {onForget && (
        <button type="button" class="quiet" onClick={onForget}>
          {words.key.forget}
        </button>
      )}
    </Bar>
  )
}

/** The name that leads to `/`, and what stands opposite. */
export function Bar({ children }: { children: ComponentChildren }) {
  return (
    <header class="header">
      <a class="wordmark" href="/">
        Perscope
      </a>
      <nav>{children}</nav>
    </header>
  )
}

export function Footer() {
  const { words } = useSpeech()
  return (
    <footer class="footer">
      <a href="/docs">{words.app.docs}</a>
    </footer>
  )
}

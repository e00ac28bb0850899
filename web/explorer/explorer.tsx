import { useCallback, useEffect, useState } from 'preact/hooks'
import type { Language } from '../../shared/articles/article.ts'
import { Footer, Header } from '../parts/header.tsx'
import { forgetKey, knownKey, rememberKey, takeKeyFromAddress } from '../parts/key.ts'
import { loadSpeech, rememberLanguage, type Speech, SpeechContext } from '../words/index.ts'
import { Welcome } from './key/welcome.tsx'
import { SearchPage } from './search-page.tsx'

/** The whole page: without a key what it is and how to get one, with a key the search. */
export function Explorer({ firstSpeech }: { firstSpeech: Speech }) {
  const [speech, setSpeech] = useState(firstSpeech)
  const [key, setKey] = useState(knownKey)
  const [said, setSaid] = useState('')
  const [isPasted, setPasted] = useState(false)
  const { words, language } = speech

  useEffect(() => {
    document.documentElement.lang = language
    document.title = `Perscope – ${words.search.title}`
  }, [language, words])

  useEffect(() => {
    // Somebody opens an address with a key in a tab that is open already.
    const look = () => takeKeyFromAddress() && setKey(knownKey())
    addEventListener('hashchange', look)
    return () => removeEventListener('hashchange', look)
  }, [])

  const use = useCallback((pasted: string) => {
    rememberKey(pasted)
    setSaid('')
    setPasted(true)
    setKey(pasted)
  }, [])
  const forget = useCallback(() => {
    forgetKey()
    setSaid(words.key.forgotten)
    setKey('')
  }, [words])
  const speak = useCallback((chosen: Language) => {
    rememberLanguage(chosen)
    void loadSpeech(chosen).then(setSpeech)
  }, [])

  return (
    <SpeechContext.Provider value={speech}>
      <a class="skip" href="#results">
        {words.app.skip}
      </a>
      <Header onLanguage={speak} onForget={key === '' ? null : forget} />
      {key === '' ? (
        <Welcome said={said} onKey={use} />
      ) : (
        <SearchPage secret={key} isPasted={isPasted} onForget={forget} />
      )}
      <Footer />
    </SpeechContext.Provider>
  )
}

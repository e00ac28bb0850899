import { useState } from 'preact/hooks'
import { CopyButton } from '../../parts/copy-button.tsx'
import { Segments } from '../../parts/segments.tsx'
import { useSpeech } from '../../words/index.ts'
import type { Search } from '../search/search.ts'
import { CODE_LANGUAGES, type CodeLanguage, codeOf } from './code.ts'
import { DownloadPanel } from './download-panel.tsx'
import { FeedPanel } from './feed-panel.tsx'

/** The search, to go on with elsewhere: as a file, as a feed, as a program. */
export function Take({ search, secret }: { search: Search; secret: string }) {
  return (
    <div class="take">
      <DownloadPanel search={search} secret={secret} />
      <FeedPanel search={search} secret={secret} />
      <Code search={search} />
    </div>
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

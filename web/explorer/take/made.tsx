import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import { CopyButton, Segments } from '#web/parts/controls.tsx'
import { useSpeech } from '#web/words/index'

// Atom comes first, because all readers support it, and unlike RSS it has the snippets.
const FEED_FORMATS = ['atom', 'rss', 'json'] as const
type FeedFormat = (typeof FEED_FORMATS)[number]
const FORMAT_NAMES: Record<FeedFormat, string> = { rss: 'RSS', atom: 'Atom', json: 'JSON Feed' }

/** The secret addresses of a feed, one for each format. */
export function Made({ urls }: { urls: Record<string, string> }): VNode {
  const { words } = useSpeech()
  const [format, setFormat] = useState<FeedFormat>('atom')
  const url = urls[format] ?? ''
  return (
    <div class="made">
      <Segments
        label={words.alert.feed}
        name="format"
        values={FEED_FORMATS}
        value={format}
        nameOf={(one: FeedFormat) => FORMAT_NAMES[one]}
        onChoose={(one: FeedFormat) => setFormat(one)}
      />
      <p class="row">
        <input
          readOnly
          aria-label={words.take.feedAddress}
          value={url}
          onFocus={event => event.currentTarget.select()}
        />
        <CopyButton text={url} />
      </p>
    </div>
  )
}

import type { VNode } from 'preact'
import { useCallback, useState } from 'preact/hooks'
import { leavesOf } from '#search/browser'
import { useWork } from '#web/parts/controls.tsx'
import { ask, hasList } from '#web/parts/request'
import { useSpeech } from '#web/words/index'
import { matchOf } from './marks.ts'
import { type Search, writeSearch } from './search.ts'

/*
 * An expression may have operators, which a fold lists, and parts of words, such as `trein*`. The
 * page says for which words they stand.
 */

/** An example of each operator, which `search.syntax` of the words explains. */
const SYNTAX = [
  ['and', 'trein AND tram'],
  ['or', 'trein OR tram'],
  ['not', 'trein NOT tram'],
  ['phrase', '"trein en tram"'],
  ['near', 'trein NEAR/5 (tram OR bus)'],
  ['forms', '~trein'],
  ['parts', 'trein*'],
  ['inTitle', 'title:trein'],
] as const

/** What can be written in an expression. */
export function Syntax(): VNode {
  const { syntax } = useSpeech().words.search
  return (
    <details class="syntax hint">
      <summary>{syntax.title}</summary>
      <dl>
        {SYNTAX.map(([name, example]) => (
          <div key={name}>
            <dt>
              <code>{example}</code>
            </dt>
            <dd>{syntax[name]}</dd>
          </div>
        ))}
      </dl>
    </details>
  )
}

/** The most parts whose words are asked for. Each costs a request of the minute. */
const MOST_PARTS = 3
/** How many words are shown. */
const SHOWN = 12

interface Words {
  part: string
  total: number
  data: { word: string; count: number }[]
}

const isWords = (json: unknown): json is Words => hasList(json, 'data')

/** The parts of words of an expression, each once. */
function partsOf(search: Search): string[] {
  const match = search.mode === 'expression' ? matchOf(search) : null
  if (match?.kind !== 'expression') return []
  const words = leavesOf(match.tree).flatMap(leaf => (leaf.kind === 'phrase' ? leaf.words : []))
  return [...new Set(words.filter(word => word.includes('*')))].slice(0, MOST_PARTS)
}

/** @param props.search a search whose results are shown; null: none */
export function PartWords(props: { search: Search | null }): VNode | null {
  const { search } = props
  const { words, say, number } = useSpeech()
  const [found, setFound] = useState<Words[]>([])
  const find = useCallback(
    async (signal: AbortSignal) => {
      setFound([])
      const answers: Words[] = []
      for (const part of search === null ? [] : partsOf(search)) {
        const answer = await ask(wordsPath(search!, part), isWords, { signal })
        if (answer.kind === 'ok') answers.push(answer.value)
      }
      if (!signal.aborted) setFound(answers)
    },
    [search],
  )
  useWork(find)
  if (found.length === 0) return null
  return (
    <ul class="part-words">
      {found.map(({ part, total, data }) => (
        <li key={part}>
          <b>{part}</b> {say(words.results.words, { n: total })}
          {data.slice(0, SHOWN).map(({ word, count }, at) => (
            <>
              {at === 0 ? ': ' : ', '}
              <bdi>{word}</bdi> <span class="figure">{number(count)}</span>
            </>
          ))}
          {total > SHOWN && ' …'}
        </li>
      ))}
    </ul>
  )
}

function wordsPath(search: Search, part: string): string {
  const parameters = writeSearch(search)
  for (const name of ['q', 'search', 'sort', 'order']) parameters.delete(name)
  parameters.set('part', part)
  return `/explore/words?${parameters}`
}

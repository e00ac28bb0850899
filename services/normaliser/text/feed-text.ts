import type { Candidate } from '#services/normaliser/candidate'
import { anyOf } from '#services/normaliser/languages/index'
import { blocksOf } from '#services/normaliser/markup/blocks'
import { parsePage } from '#services/normaliser/markup/tree'
import { plainText } from '#shared/articles/plain-text'
import type { FeedEntry } from '#shared/outlets/page'
import { isChaffLine } from './chaff.ts'
import { isHeading, linkShare } from './choose.ts'
import { prunedIn } from './prune.ts'

/**
 * The text of a feed's summary or content, which may be HTML: paragraphs with blank lines between
 * them. Captions, links to other articles, and notes of publishing software are removed. Null when
 * no text remains.
 */
export function feedText(source: string | null): string | null {
  if (source === null || source.trim() === '') return null
  const paragraphs = /<[a-z!/]/i.test(source)
    ? paragraphsOf(source)
    : (plainText(source)?.split('\n\n') ?? [])
  const kept = paragraphs.filter(text => !isChaffLine(text, 0) && !NOTE.test(text)).map(withoutMore)
  const text = kept.filter(paragraph => paragraph !== '').join('\n\n')
  return text === '' ? null : text
}

/** The texts of a feed's entry, in order of rank; read lazily. */
export function* feedTexts(entry: FeedEntry | null): Generator<Candidate<string>> {
  if (entry === null) return
  for (const source of ['feed', 'summary'] as const) {
    const value = feedText(source === 'feed' ? entry.content : entry.summary)
    if (value !== null) yield { source, value, against: null }
  }
}

function paragraphsOf(html: string): string[] {
  const { root } = parsePage(html)
  const blocks = blocksOf(root, { without: prunedIn(root) })
  const kept = blocks.filter(block => !isChaffLine(block.text, linkShare(block)))
  const own = kept.filter(block => linkShare(block) <= 0.8)
  const shown = own.length > 0 ? own : kept
  // A last heading without text below it introduced a list of links.
  while (shown.length > 1 && isHeading(shown[shown.length - 1]!)) shown.pop()
  return shown.map(block => block.text)
}

/** "The post … appeared first on …", which publishing software adds, in each language. */
const NOTE = new RegExp(String.raw`^${anyOf(rules => rules.text.appearedFirst)}\b`, 'iu')

/** The site that the announced text is on: "Read more on example.org". */
const ON_SITE = String.raw`(?:\s(?:op|sur|auf|bei|op der|on|at|via)\s\S{1,60})?`
/** Ends of summaries that only announce more text. */
const MORE = new RegExp(
  String.raw`\s*(\[\s*(…|\.{3}|&hellip;)\s*\]|\(${anyOf(rules => rules.text.moreInBrackets)}\W*\)|(?<=[.!?…]["”»’]?\s?)${anyOf(rules => rules.text.readMore)}${ON_SITE}\W*)$`,
  'iu',
)
const withoutMore = (text: string) => text.replace(MORE, '').trim()

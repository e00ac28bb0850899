import { createHash } from 'node:crypto'
import { storable } from '../../../shared/indexing/text.ts'
import { anyOf } from '../languages/index.ts'
import { fold } from '../metadata/fold.ts'

/** What is remembered of one version of a page, to tell later ones from it. */
export interface Reading {
  title: string
  /** Four bytes of a hash of each sentence, in ascending order, each once. */
  sentences: Uint8Array
  /** When it was last changed, as the page says. */
  modified: Date | null
  /** A paragraph says that the article was corrected. */
  corrected: boolean
}

/** Kinds of changes, as `page_looks.what` holds them. */
export type Change = 'title' | 'text' | 'correction' | 'modified' | 'replaced'

/** Labels, captions and counters are shorter. They change by themselves. */
const SHORTEST = 5
/** Sentences of a text that are remembered. */
const MOST = 1_000
const BYTES = 4

/** Of a title, in characters. */
const LONGEST_TITLE = 500

/** @param text the article's text as the page served it, one paragraph a line */
export function readingOf(title: string, text: string, modified: string | null): Reading {
  const hashes = new Set<number>()
  for (const sentence of text.split(/(?<=[.!?…]["'”’»)]?)\s+|\n+/u)) {
    if (hashes.size >= MOST) break
    const words = fold(sentence)
    if (words.split(' ').length < SHORTEST) continue
    hashes.add(createHash('sha256').update(words).digest().readUInt32BE())
  }
  const sentences = Buffer.alloc(hashes.size * BYTES)
  for (const [at, hash] of [...hashes].sort((a, b) => a - b).entries()) sentences.writeUInt32BE(hash, at * BYTES)
  const time = modified === null ? Number.NaN : Date.parse(modified)
  return {
    title: storable(title.slice(0, LONGEST_TITLE)),
    sentences,
    modified: Number.isNaN(time) || Math.abs(time) > LATEST ? null : new Date(time),
    corrected: text.split(/\n+/).some(paragraph => CORRECTION.test(paragraph)),
  }
}

const LATEST = Date.UTC(2100, 0)

/** A paragraph that begins as the editors' note on a correction does. */
const CORRECTION = new RegExp(
  String.raw`^\W{0,5}(?:${anyOf(rules => rules.text.corrections)}\b(?:\s*\([^)]{0,40}\))?[^.:]{0,30}:|${anyOf(rules => rules.text.earlierVersions)})`,
  'i',
)

/** How a later version differs from the one before it. */
export function changesBetween(before: Reading, after: Reading): Change[] {
  const old = new Set(hashesOf(before.sentences))
  const present = hashesOf(after.sentences)
  const kept = present.filter(hash => old.has(hash)).length
  const retitled = fold(before.title) !== fold(after.title)
  const rewritten = kept < present.length || kept < old.size
  if (retitled && kept === 0 && old.size > 0 && present.length > 0) return ['replaced']
  const modified = after.modified !== null && before.modified !== null && after.modified > before.modified
  return [
    ...(retitled ? (['title'] as const) : []),
    ...(rewritten ? (['text'] as const) : []),
    ...(after.corrected && !before.corrected ? (['correction'] as const) : []),
    ...(modified ? (['modified'] as const) : []),
  ]
}

function hashesOf(sentences: Uint8Array): number[] {
  const view = Buffer.from(sentences)
  return Array.from({ length: Math.floor(view.length / BYTES) }, (_, at) => view.readUInt32BE(at * BYTES))
}

import { readFileSync } from 'node:fs'
import type { Language } from '../vocabulary.ts'

/** The program of `multilingual-stemmer` (Snowball, compiled to WebAssembly). */
interface StemmerProgram {
  initSync(program: { module: Uint8Array }): unknown
  Languages: Record<'Dutch' | 'English' | 'French' | 'German', number>
  Stemmer: new (language: number) => { stem(word: string): string }
}

// The package's own start of the program also asks for `Response`, and Node then loads its `fetch`:
// 80 ms of processor time at each start of a process or thread.
const inPackage = (file: string) =>
  new URL(`browser/${file}`, import.meta.resolve('multilingual-stemmer'))
const { initSync, Languages, Stemmer }: StemmerProgram = await import(inPackage('index.js').href)
initSync({ module: readFileSync(inPackage('index_bg.wasm')) })

function algorithmOf(language: number): (word: string) => string {
  const stemmer = new Stemmer(language)
  return word => stemmer.stem(word)
}

const german = algorithmOf(Languages.German)

/**
 * Luxembourgish has no Snowball stemmer. The German stemmer also removes the plural and verb
 * endings of Luxembourgish (-en, -er, -e, -t).
 */
const ALGORITHMS: Record<Language, (word: string) => string> = {
  nl: algorithmOf(Languages.Dutch),
  fr: algorithmOf(Languages.French),
  de: german,
  lb: german,
  en: algorithmOf(Languages.English),
}

/**
 * The longest word that is stemmed, in code units. Longer words are names of files, chemicals and
 * nonsense. `stem` returns them unchanged, so that no word takes long.
 */
const LONGEST = 64

/**
 * How many stems each algorithm keeps in memory. The frequent words of the news fit into this
 * number. To compute a stem takes ten times as long as to look it up.
 */
const REMEMBERED = 50_000

const memories = new Map<(word: string) => string, Map<string, string>>()

/**
 * Snowball's stem of a folded word in a language. Words are folded first, so accents never matter.
 * Pass a word, never a stem: the stem of a stem may differ from that stem.
 */
export function stem(language: Language, word: string): string {
  if (word.length > LONGEST) return word
  const algorithm = ALGORITHMS[language]
  const memory = memoryOf(algorithm)
  const known = memory.get(word)
  if (known !== undefined) return known
  const found = algorithm(word)
  if (memory.size >= REMEMBERED) memory.clear()
  memory.set(word, found)
  return found
}

function memoryOf(algorithm: (word: string) => string): Map<string, string> {
  const present = memories.get(algorithm)
  if (present !== undefined) return present
  const memory = new Map<string, string>()
  memories.set(algorithm, memory)
  return memory
}

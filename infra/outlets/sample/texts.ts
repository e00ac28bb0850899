import { createHash } from 'node:crypto'
import { LANGUAGES, type Language } from '#shared/articles/article'

/*
 * An article of a sample outlet: a headline, a block of lines `key: value`, and paragraphs, each
 * after an empty line.
 */

/** The site's behaviour when the article is requested; `page` serves it. */
const BEHAVIOURS = [
  'page',
  'forbidden',
  'consent-wall',
  'paywall',
  'disallowed',
  'gone',
  'fails',
  'fails-once',
] as const
type Behaviour = (typeof BEHAVIOURS)[number]

/** Languages of the catalogue, and two that the index must refuse. */
const TEXT_LANGUAGES = [...LANGUAGES, 'es', 'pl'] as const
export type TextLanguage = (typeof TEXT_LANGUAGES)[number]

export const isLanguage = (language: TextLanguage): language is Language =>
  LANGUAGES.some(known => known === language)

export interface SampleText {
  title: string
  /** Made from the title, for addresses that hold words. */
  slug: string
  /**
   * Six digits computed from the slug, so that the address does not depend on the order of the
   * texts.
   */
  number: string
  publishedAt: Date
  authors: string[]
  section: string
  /** The event that the article reports. Other outlets also report it, in their own words. */
  event: string | null
  language: TextLanguage
  answer: Behaviour
  paragraphs: string[]
}

export function parseText(block: string, timeZone: string, outletLanguage: Language): SampleText {
  const [title = '', head = '', ...paragraphs] = block.trim().split(/\n\s*\n/)
  const keys = keysOf(head)
  const slug = slugOf(title)
  return {
    title,
    slug,
    number: numberOf(slug),
    publishedAt: instantOf(keys.get('at') ?? '', timeZone),
    authors: keys.get('by')?.split(', ') ?? [],
    section: keys.get('section') ?? '',
    event: keys.get('event') ?? null,
    language: oneOf(TEXT_LANGUAGES, keys.get('lang') ?? outletLanguage, title),
    answer: oneOf(BEHAVIOURS, keys.get('answer') ?? 'page', title),
    paragraphs: paragraphs.map(paragraph => paragraph.replace(/\s+/g, ' ').trim()),
  }
}

/** The values of lines `key: value`. */
export function keysOf(head: string): Map<string, string> {
  return new Map(
    [...head.matchAll(/^(\w+): (.*)$/gm)].map(([, key = '', value = '']) => [key, value]),
  )
}

export function oneOf<T extends string>(values: readonly T[], value: string, title: string): T {
  const found = values.find(candidate => candidate === value)
  if (!found) throw new Error(`"${title}": "${value}" is none of ${values.join(', ')}.`)
  return found
}

/** `treinstaking-legt-grensverkeer-plat`: at most six words of the title. */
function slugOf(title: string): string {
  const words =
    title
      .toLowerCase()
      .normalize('NFD')
      .replace(/\p{M}/gu, '')
      .match(/[a-z0-9]+/g) ?? []
  return words.slice(0, 6).join('-')
}

function numberOf(slug: string): string {
  const hash = createHash('sha1').update(slug).digest().readUInt32BE(0)
  return String(100_000 + (hash % 900_000))
}

/**
 * The instant of a local time (`2026-11-03 14:05`). No text uses the hours around a change of the
 * clock.
 */
function instantOf(local: string, timeZone: string): Date {
  const instant = `${local.replace(' ', 'T')}:00`
  const zone = new Date(`${instant}Z`).toLocaleString('en', {
    timeZone,
    timeZoneName: 'longOffset',
  })
  return new Date(`${instant}${zone.slice(-6)}`)
}

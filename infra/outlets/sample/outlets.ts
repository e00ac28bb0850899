import { readdirSync, readFileSync } from 'node:fs'
import {
  COUNTRIES,
  type Country,
  LANGUAGES,
  type Language,
  TIME_ZONES,
} from '#shared/articles/article'
import type { Outlet } from '#shared/outlets/catalogue'
import { keysOf, oneOf, parseText, type SampleText } from './texts.ts'

/*
 * The sample outlets, from `texts/<domain>.md`. Each file begins with lines `key: value` about the
 * outlet. Its articles follow, each after `# `. All of it was invented for Perscope.
 */

/** The form in which a page states title, authors and date for machines. `none`: only as text. */
const METADATA = ['json-ld', 'open-graph', 'none'] as const

const FORMATS = ['rss', 'atom', 'json', 'sitemap'] as const

/** A fictional outlet, and the properties of its site. */
export interface SampleOutlet {
  name: string
  domain: string
  motto: string
  country: Country
  /** The first is the language of the page around the articles. */
  languages: [Language, ...Language[]]
  /** Path of an article. */
  address: (text: SampleText) => string
  metadata: (typeof METADATA)[number]
  feed: { path: string; format: (typeof FORMATS)[number]; whole: boolean }
  /** The folder that robots.txt forbids. */
  forbidden: string
  /** Newest first. */
  texts: SampleText[]
}

const FOLDER = new URL('texts/', import.meta.url)

export const SAMPLE_OUTLETS: readonly SampleOutlet[] = readdirSync(FOLDER).sort().map(readOutlet)

function readOutlet(file: string): SampleOutlet {
  const [head = '', ...blocks] = readFileSync(new URL(file, FOLDER), 'utf8').split(/^# /m)
  const keys = keysOf(head)
  const said = (key: string) => keys.get(key) ?? ''
  const country = oneOf(COUNTRIES, said('country'), file)
  const [language, ...others] = said('languages')
    .split(', ')
    .map(name => oneOf(LANGUAGES, name, file))
  const texts = blocks.map(block => parseText(block, TIME_ZONES[country], language!))
  const forbidden = said('forbidden')
  return {
    name: said('name'),
    domain: file.replace(/\.md$/, ''),
    motto: said('motto'),
    country,
    languages: [language!, ...others],
    address: text =>
      text.answer === 'disallowed' ? forbidden + text.slug : addressed(said('address'), text),
    metadata: oneOf(METADATA, said('metadata'), file),
    feed: {
      path: said('feed'),
      format: oneOf(FORMATS, said('format'), file),
      whole: keys.has('texts'),
    },
    forbidden,
    texts: texts.sort((a, b) => b.publishedAt.getTime() - a.publishedAt.getTime()),
  }
}

/** The path of an article, such as `/{section}/{slug}`. */
function addressed(template: string, { section, publishedAt, ...text }: SampleText): string {
  const parts: Record<string, unknown> = {
    ...text,
    section: section
      .toLowerCase()
      .normalize('NFD')
      .replace(/[^a-z]/g, ''),
    month: publishedAt.toISOString().slice(0, 7).replace('-', '/'),
  }
  return template.replace(/\{(\w+)\}/g, (_, name) => String(parts[name]))
}

/** The catalogue entry of an outlet whose site answers at `origin` (`http://127.0.0.1:24801`). */
export function catalogueEntry(outlet: SampleOutlet, origin: string): Outlet {
  const { name, domain, country, languages, feed } = outlet
  const addresses = [origin + feed.path]
  const isSitemap = feed.format === 'sitemap'
  return {
    name,
    domain,
    country,
    languages: [...languages],
    hosts: [new URL(origin).host],
    timeZone: TIME_ZONES[country],
    feeds: isSitemap ? [] : addresses,
    sitemaps: isSitemap ? addresses : [],
  }
}

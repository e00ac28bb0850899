import { inWords } from '../dates.ts'
import { escapeMarkup } from '../markup.ts'
import type { FeedMake, SampleOutlet } from '../outlet.ts'
import { type SampleText, summaryOf } from '../texts.ts'
import { framePage, sectionId } from './frame.ts'

const FEED_TYPES: Record<FeedMake['format'], string | null> = {
  rss: 'application/rss+xml',
  rdf: 'application/rdf+xml',
  atom: 'application/atom+xml',
  json: 'application/feed+json',
  'sitemap-index': null,
}

/** The front page: all articles that a reader may open, by section. */
export function homePage(outlet: SampleOutlet, texts: SampleText[]): string {
  const open = texts.filter(text => text.answer !== 'disallowed' && text.answer !== 'gone')
  const sections = sectionsOf(open)
  const blocks = sections.map(section => {
    const items = open.filter(text => text.section === section).map(text => teaser(outlet, text))
    return `<section id="${sectionId(section)}"><h2>${escapeMarkup(section)}</h2>${items.join('\n')}</section>`
  })
  const feeds = outlet.feeds.flatMap(feed => {
    const type = FEED_TYPES[feed.format]
    return type ? [`<link rel="alternate" type="${type}" href="${feed.path}">`] : []
  })
  return framePage(outlet, sections, {
    title: `${outlet.name}: ${outlet.motto}`,
    head: feeds.join('\n'),
    main: `<main>${blocks.join('\n')}</main>`,
    language: outlet.languages[0],
  })
}

function teaser(outlet: SampleOutlet, text: SampleText): string {
  return `<article><h3><a href="${escapeMarkup(outlet.address(text))}">${escapeMarkup(text.title)}</a></h3>
<p>${escapeMarkup(summaryOf(text))}</p><p class="meta">${escapeMarkup(inWords(text.publishedAt, outlet.timeZone, outlet.languages[0]))}</p></article>`
}

/** Sections in the order of their newest article. */
export function sectionsOf(texts: SampleText[]): string[] {
  return [...new Set(texts.filter(text => text.answer !== 'disallowed').map(text => text.section))]
}

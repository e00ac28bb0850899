import { withOffset } from '../dates.ts'
import { escapeMarkup } from '../markup.ts'
import type { SampleOutlet } from '../outlet.ts'
import { type SampleText, summaryOf } from '../texts.ts'

/** The metadata in the `<head>` of an article, in the manner of the outlet. */
export function metadataOf(outlet: SampleOutlet, text: SampleText, origin: string): string {
  const url = origin + outlet.address(text)
  const links = [
    ...(outlet.canonical ? [`<link rel="canonical" href="${escapeMarkup(url)}">`] : []),
    ...(outlet.amp ? [`<link rel="amphtml" href="${escapeMarkup(`${origin}/amp${outlet.address(text)}`)}">`] : []),
  ]
  return [...links, ...declarations(outlet, text, url)].join('\n')
}

function declarations(outlet: SampleOutlet, text: SampleText, url: string): string[] {
  switch (outlet.metadata) {
    case 'json-ld':
      return [script({ '@context': 'https://schema.org', ...newsArticle(outlet, text, url) })]
    case 'json-ld-graph':
      return [script({ '@context': 'https://schema.org', '@graph': graph(outlet, text, url) })]
    case 'json-ld-list':
      return [script([breadcrumb(text), { '@context': 'https://schema.org', ...newsArticle(outlet, text, url) }])]
    case 'json-ld-broken':
      // A raw line break inside a string, as templates without escaping write it.
      return [
        `<script type="application/ld+json">{"@type": "NewsArticle", "headline": "${text.title}\n", }</script>`,
        ...openGraph(outlet, text, url),
      ]
    case 'open-graph':
      return openGraph(outlet, text, url)
    case 'dublin-core':
      return [
        meta('name', 'DC.title', text.title),
        ...text.authors.map(author => meta('name', 'DC.creator', author)),
        meta('name', 'DC.date.issued', withOffset(text.publishedAt, outlet.timeZone)),
      ]
    case 'microdata':
    case 'none':
      return []
  }
}

function script(data: unknown): string {
  return `<script type="application/ld+json">${JSON.stringify(data).replaceAll('</', '<\\/')}</script>`
}

function meta(key: 'name' | 'property', name: string, content: string): string {
  return `<meta ${key}="${name}" content="${escapeMarkup(content)}">`
}

/** Two hours after publication, so that a test notices when this date is taken by mistake. */
function modified(outlet: SampleOutlet, text: SampleText): string {
  return withOffset(new Date(text.publishedAt.getTime() + 2 * 3_600_000), outlet.timeZone)
}

function newsArticle(outlet: SampleOutlet, text: SampleText, url: string) {
  return {
    '@type': 'NewsArticle',
    headline: text.title,
    description: summaryOf(text),
    mainEntityOfPage: url,
    datePublished: withOffset(text.publishedAt, outlet.timeZone),
    dateModified: modified(outlet, text),
    inLanguage: text.language,
    isAccessibleForFree: text.answer !== 'paywall',
    author: text.authors.map(name => ({ '@type': 'Person', name })),
    publisher: { '@type': 'NewsMediaOrganization', name: outlet.name },
  }
}

/** Nodes that refer to each other by `@id`, as large content systems write them. */
function graph(outlet: SampleOutlet, text: SampleText, url: string) {
  const home = new URL('/', url).href
  const person = (index: number) => `${home}#author-${text.number}-${index}`
  return [
    { '@type': 'Organization', '@id': `${home}#organization`, name: outlet.name, url: home },
    { '@type': 'WebSite', '@id': `${home}#website`, name: outlet.name, datePublished: '2009-01-01' },
    { '@type': 'WebPage', '@id': url, name: `${text.title} | ${outlet.name}`, dateModified: modified(outlet, text) },
    ...text.authors.map((name, index) => ({ '@type': 'Person', '@id': person(index), name })),
    {
      ...newsArticle(outlet, text, url),
      '@id': `${url}#article`,
      author: text.authors.map((_, index) => ({ '@id': person(index) })),
      publisher: { '@id': `${home}#organization` },
    },
  ]
}

function breadcrumb(text: SampleText) {
  return {
    '@context': 'https://schema.org',
    '@type': 'BreadcrumbList',
    itemListElement: [{ '@type': 'ListItem', position: 1, name: text.section }],
  }
}

function openGraph(outlet: SampleOutlet, text: SampleText, url: string): string[] {
  return [
    meta('property', 'og:type', 'article'),
    meta('property', 'og:title', text.title),
    meta('property', 'og:site_name', outlet.name),
    meta('property', 'og:url', url),
    meta('property', 'og:description', summaryOf(text)),
    meta('property', 'article:published_time', withOffset(text.publishedAt, outlet.timeZone)),
    meta('property', 'article:modified_time', modified(outlet, text)),
    meta('property', 'article:section', text.section),
    ...text.authors.map(author => meta('property', 'article:author', author)),
  ]
}

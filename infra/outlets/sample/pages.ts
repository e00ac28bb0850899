import { escapeMarkup } from './answer.ts'
import { inWords, withOffset } from './dates.ts'
import { byLine, PHRASES, type Phrases } from './phrases.ts'
import { type FeedMake, isLanguage, type SampleOutlet, type SampleText, summaryOf } from './texts.ts'

interface Surroundings {
  origin: string
  sections: Sections
  /** Other articles of the outlet, for the box in the middle of the text. */
  related: SampleText[]
}

/** The page of an article, with everything that a real site puts around it. */
export function articlePage(outlet: SampleOutlet, text: SampleText, around: Surroundings): string {
  const phrases = PHRASES[isLanguage(text.language) ? text.language : outlet.languages[0]]
  return framePage(outlet, around.sections, {
    title: `${text.title} | ${outlet.name}`,
    head: metadataOf(outlet, text, around.origin),
    main: mainOf(outlet, text, around, phrases),
    language: outlet.pageLanguage?.(text) ?? null,
  })
}

function mainOf(outlet: SampleOutlet, text: SampleText, around: Surroundings, phrases: Phrases): string {
  if (outlet.metadata === 'none') return bareMain(outlet, text, around, phrases)
  if (outlet.metadata === 'microdata') return microdataMain(outlet, text, around, phrases)
  return `<main><article>
<p class="meta">${escapeMarkup(text.section)}</p>
<h1>${escapeMarkup(text.title)}</h1>
<p class="meta">${bySpan(text, phrases)}<time datetime="${withOffset(text.publishedAt, outlet.timeZone)}">${dateLine(outlet, text)}</time></p>
${picture(text, phrases)}
<div class="article-body">
${bodyOf(outlet, text, around, phrases)}
</div>
${share(phrases)}
</article>
${comments(outlet, text, phrases)}</main>`
}

function microdataMain(outlet: SampleOutlet, text: SampleText, around: Surroundings, phrases: Phrases): string {
  const authors = text.authors.map(
    name =>
      `<span itemprop="author" itemscope itemtype="https://schema.org/Person"><span itemprop="name">${escapeMarkup(name)}</span></span>`,
  )
  return `<main><article itemscope itemtype="https://schema.org/NewsArticle">
<h1 itemprop="headline">${escapeMarkup(text.title)}</h1>
<p class="meta">${authors.join(', ')} <meta itemprop="datePublished" content="${withOffset(text.publishedAt, outlet.timeZone)}">${dateLine(outlet, text)}</p>
${picture(text, phrases)}
<div itemprop="articleBody">
${bodyOf(outlet, text, around, phrases)}
</div>
${share(phrases)}
</article>
${comments(outlet, text, phrases)}</main>`
}

/** A page without metadata: title, by-line and date are text. */
function bareMain(outlet: SampleOutlet, text: SampleText, around: Surroundings, phrases: Phrases): string {
  const by = byLine(text.authors, phrases)
  return `<div id="content">
<h1>${escapeMarkup(text.title)}</h1>
${by ? `<p class="byline">${escapeMarkup(by)}</p>\n` : ''}<p class="date">${dateLine(outlet, text)}</p>
${bodyOf(outlet, text, around, phrases)}
</div>
${comments(outlet, text, phrases)}`
}

function bySpan(text: SampleText, phrases: Phrases): string {
  const by = byLine(text.authors, phrases)
  return by ? `<span class="byline">${escapeMarkup(by)}</span> · ` : ''
}

function dateLine(outlet: SampleOutlet, text: SampleText): string {
  const language = isLanguage(text.language) ? text.language : outlet.languages[0]
  return escapeMarkup(inWords(text.publishedAt, outlet.timeZone, language))
}

function picture(text: SampleText, phrases: Phrases): string {
  return `<figure><img src="/pictures/${text.number}.svg" alt="" width="640" height="300"><figcaption>${escapeMarkup(phrases.photo)}</figcaption></figure>`
}

/** The paragraphs, with a box of related articles after the second one. */
function bodyOf(outlet: SampleOutlet, text: SampleText, around: Surroundings, phrases: Phrases): string {
  if (text.answer === 'paywall') return teaser(text, phrases)
  const [first = '', second = '', ...rest] = text.paragraphs.map(paragraph => escapeMarkup(paragraph))
  return [
    `<p class="intro">${first}</p>`,
    `<p>${second}</p>`,
    related(outlet, around.related, phrases),
    ...rest.map(paragraph => `<p>${paragraph}</p>`),
  ].join('\n')
}

function teaser(text: SampleText, phrases: Phrases): string {
  const start = summaryOf(text)
    .slice(0, 120)
    .replace(/\s+\S*$/, '')
  return `<p class="intro">${escapeMarkup(start)}…</p>
<div class="paywall"><p>${escapeMarkup(phrases.paywall)}</p><button>${escapeMarkup(phrases.subscribe)}</button></div>`
}

function related(outlet: SampleOutlet, texts: SampleText[], phrases: Phrases): string {
  const links = texts.map(text => `<a href="${escapeMarkup(outlet.address(text))}">${escapeMarkup(text.title)}</a>`)
  return outlet.metadata === 'none'
    ? `<p><b>${escapeMarkup(phrases.readAlso)}:</b> ${links[0] ?? ''}</p>`
    : `<aside class="related"><h3>${escapeMarkup(phrases.readAlso)}</h3><ul>${links.map(link => `<li>${link}</li>`).join('')}</ul></aside>`
}

function share(phrases: Phrases): string {
  return `<div class="share"><p>${escapeMarkup(phrases.share)}</p><ul><li><a href="#">E-mail</a></li><li><a href="#">Mastodon</a></li></ul></div>`
}

/** Readers' comments, with dates that are not the article's. */
function comments(outlet: SampleOutlet, text: SampleText, phrases: Phrases): string {
  const items = phrases.reactions.map(([name, hours, words]) => {
    const written = new Date(text.publishedAt.getTime() + Number(hours) * 3_600_000)
    return `<div class="comment"><small>${escapeMarkup(name)}, ${withOffset(written, outlet.timeZone).slice(0, 16).replace('T', ' ')}</small><p>${escapeMarkup(words)}</p></div>`
  })
  return `<section class="comments"><h2>${escapeMarkup(phrases.comments)} (${items.length})</h2>${items.join('')}</section>`
}

/** The AMP variant: the same text with nothing around it, and a canonical link to the article. */
export function ampPage(outlet: SampleOutlet, text: SampleText, around: Surroundings): string {
  return `<!DOCTYPE html>
<html amp lang="${text.language}">
<head><meta charset="utf-8"><title>${escapeMarkup(text.title)}</title>
${metadataOf({ ...outlet, amp: false }, text, around.origin)}
</head>
<body><article><h1>${escapeMarkup(text.title)}</h1>
${text.paragraphs.map(paragraph => `<p>${escapeMarkup(paragraph)}</p>`).join('\n')}
</article></body>
</html>
`
}

interface Frame {
  title: string
  head: string
  /** HTML inside `<body>`, between the site's navigation and its footer. */
  main: string
  language: string | null
}

/** The sections of the outlet, in the order of their newest article. */
type Sections = readonly string[]

function sectionId(section: string): string {
  return section.toLowerCase().replace(/\s+/g, '-')
}

/** The whole page: head, masthead, navigation, main, newsletter, footer. */
function framePage(outlet: SampleOutlet, sections: Sections, frame: Frame): string {
  const phrases = PHRASES[outlet.languages[0]]
  const old = outlet.metadata === 'none'
  return `<!DOCTYPE html>
<html${frame.language ? ` lang="${frame.language}"` : ''}>
<head>
${charsetMeta(outlet)}<title>${escapeMarkup(frame.title)}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
${frame.head}
<link rel="stylesheet" href="/style.css">
</head>
<body>
${old ? oldHeader(outlet, sections) : header(outlet, sections)}
${frame.main}
${old ? oldFooter(outlet, phrases) : footer(outlet, phrases)}
</body>
</html>
`
}

function charsetMeta(outlet: SampleOutlet): string {
  const { meta } = outlet.charset
  if (!meta) return ''
  const old = outlet.metadata === 'none'
  return old ? `<meta http-equiv="Content-Type" content="text/html; charset=${meta}">\n` : `<meta charset="${meta}">\n`
}

function sectionLinks(sections: Sections): string[] {
  return sections.map(section => `<a href="/#${sectionId(section)}">${escapeMarkup(section)}</a>`)
}

function header(outlet: SampleOutlet, sections: Sections): string {
  const items = sectionLinks(sections).map(link => `<li>${link}</li>`)
  return `<header class="masthead"><a href="/">${escapeMarkup(outlet.name)}</a><p>${escapeMarkup(outlet.motto)}</p></header>
<nav><ul>${items.join('')}</ul></nav>`
}

/** A layout of tables, from the time before style sheets. */
function oldHeader(outlet: SampleOutlet, sections: Sections): string {
  return `<table width="100%" bgcolor="${outlet.colour}"><tr><td class="masthead"><a href="/">${escapeMarkup(outlet.name)}</a>
<p>${escapeMarkup(outlet.motto)}</p></td></tr></table>
<p class="menu">${sectionLinks(sections).join(' | ')}</p>`
}

function footer(outlet: SampleOutlet, phrases: Phrases): string {
  return `<form class="newsletter" action="/" method="get"><p>${escapeMarkup(phrases.newsletter)}</p>
<input type="email" name="mail"> <button>${escapeMarkup(phrases.subscribe)}</button></form>
<footer><p>${escapeMarkup(phrases.footer)}</p><p>© 2026 ${escapeMarkup(outlet.name)}. ${escapeMarkup(phrases.fictional)}</p></footer>
<div class="cookie-bar"><p>${escapeMarkup(phrases.cookies)} <button>${escapeMarkup(phrases.accept)}</button></p></div>`
}

function oldFooter(outlet: SampleOutlet, phrases: Phrases): string {
  return `<hr><p class="footer"><small>${escapeMarkup(phrases.footer)}<br>
&copy; 2026 ${escapeMarkup(outlet.name)}. ${escapeMarkup(phrases.fictional)}</small></p>`
}

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
    const items = open.filter(text => text.section === section).map(text => homeTeaser(outlet, text))
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

function homeTeaser(outlet: SampleOutlet, text: SampleText): string {
  return `<article><h3><a href="${escapeMarkup(outlet.address(text))}">${escapeMarkup(text.title)}</a></h3>
<p>${escapeMarkup(summaryOf(text))}</p><p class="meta">${escapeMarkup(inWords(text.publishedAt, outlet.timeZone, outlet.languages[0]))}</p></article>`
}

/** Sections in the order of their newest article. */
export function sectionsOf(texts: SampleText[]): string[] {
  return [...new Set(texts.filter(text => text.answer !== 'disallowed').map(text => text.section))]
}

/** The metadata in the `<head>` of an article, in the manner of the outlet. */
function metadataOf(outlet: SampleOutlet, text: SampleText, origin: string): string {
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

/** A consent page instead of the article, with status 200, as real ones have. */
export function consentPage(outlet: SampleOutlet): string {
  const phrases = PHRASES[outlet.languages[0]]
  return `<!DOCTYPE html>
<html lang="${outlet.languages[0]}">
<head><meta charset="utf-8"><title>${escapeMarkup(phrases.consentTitle)} | ${escapeMarkup(outlet.name)}</title>
<meta name="robots" content="noindex"><link rel="stylesheet" href="/style.css"></head>
<body><main class="cookie-consent"><h1>${escapeMarkup(phrases.consentTitle)}</h1>
${phrases.consent.map(paragraph => `<p>${escapeMarkup(paragraph)}</p>`).join('\n')}
<form method="post"><button name="choice" value="all">${escapeMarkup(phrases.accept)}</button></form></main></body>
</html>
`
}

/** A page that only says that it does not exist. */
export function refusalPage(
  outlet: SampleOutlet,
  sections: Sections,
  kind: 'notFound' | 'forbidden' | 'failed',
): string {
  const message = PHRASES[outlet.languages[0]][kind]
  return framePage(outlet, sections, {
    title: `${outlet.name}`,
    head: '<meta name="robots" content="noindex">',
    main: `<main><h1>${escapeMarkup(message)}</h1></main>`,
    language: outlet.languages[0],
  })
}

/** One plain style for all sites but the two old ones, coloured by outlet. */
export function styleSheet(colour: string): string {
  return `
:root { --colour: ${colour} }
* { box-sizing: border-box }
body { margin: 0; font: 1.05rem/1.6 Georgia, serif; color: #222; background: #fafaf8 }
a { color: var(--colour) }
.masthead { background: var(--colour); color: #fff; padding: 1rem 1.5rem }
.masthead a { color: #fff; text-decoration: none; font-size: 1.9rem; font-weight: bold }
.masthead p { margin: 0; opacity: .85 }
nav ul { list-style: none; display: flex; flex-wrap: wrap; gap: 1.2rem; margin: 0; padding: .6rem 1.5rem; background: #fff;
  border-bottom: 1px solid #ddd }
main { max-width: 44rem; margin: 1.5rem auto; padding: 0 1.2rem }
h1 { line-height: 1.2 }
.meta, figcaption, .comment small { color: #666; font-size: .9rem }
.intro { font-weight: bold }
#content, .menu, .footer { max-width: 48rem; padding: 0 1.5rem }
figure { margin: 1rem 0 }
figure img { width: 100%; height: auto; border-radius: 4px }
.related, .newsletter, .share, .comments { border-top: 3px solid var(--colour); margin: 1.6rem 0; padding-top: .4rem; font-size: .95rem }
.share ul { list-style: none; display: flex; gap: 1rem; padding: 0 }
.cookie-bar { position: sticky; bottom: 0; background: #333; color: #fff; padding: .6rem 1.5rem }
footer { border-top: 1px solid #ddd; padding: 1rem 1.5rem 2rem; color: #666; font-size: .9rem }
`
}

/** A picture without a copyright: hills in the outlet's colour, shaped by the article's number. */
export function pictureOf(number: string, colour: string): string {
  const height = (index: number) => 90 + Number(number[index] ?? 0) * 12
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 640 300"><rect width="640" height="300" fill="#dfe7ea"/>
<circle cx="${80 + Number(number.slice(-2)) * 5}" cy="70" r="34" fill="#f4d58d"/>
<path d="M0 300V${height(0)}L160 ${height(1)}L320 ${height(2)}L480 ${height(3)}L640 ${height(4)}V300Z" fill="${colour}" opacity=".55"/>
<path d="M0 300V${height(3) + 60}L200 ${height(4) + 70}L420 ${height(5) + 60}L640 ${height(1) + 70}V300Z" fill="${colour}"/></svg>`
}

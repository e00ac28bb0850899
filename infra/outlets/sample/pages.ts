import { escapeMarkup } from './answer.ts'
import { inWords, withOffset } from './dates.ts'
import { byLine, PHRASES, type Phrases } from './phrases.ts'
import { type FeedMake, isLanguage, type SampleOutlet, type SampleText, summaryOf } from './texts.ts'

interface Surroundings {
  origin: string
  /** Other articles of the outlet, for the box in the middle of the text. */
  related: SampleText[]
}

/** The page of an article, with everything that a real site puts around it. */
export function articlePage(outlet: SampleOutlet, text: SampleText, around: Surroundings): string {
  const phrases = PHRASES[isLanguage(text.language) ? text.language : outlet.languages[0]]
  return framePage(outlet, {
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
${picture(phrases)}
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
${picture(phrases)}
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

function picture(phrases: Phrases): string {
  return `<figure><img src="/favicon.ico" alt=""><figcaption>${escapeMarkup(phrases.photo)}</figcaption></figure>`
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

/** A reader's comment, with a date that is not the article's. */
function comments(outlet: SampleOutlet, text: SampleText, phrases: Phrases): string {
  const written = withOffset(new Date(text.publishedAt.getTime() + 3 * 3_600_000), outlet.timeZone)
  return `<section class="comments"><h2>${escapeMarkup(phrases.comments)} (1)</h2><div class="comment">
<small>Nora, ${written.slice(0, 16).replace('T', ' ')}</small><p>${escapeMarkup(phrases.reaction)}</p></div></section>`
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

/** The whole page: head, masthead, navigation, main, newsletter, footer. */
function framePage(outlet: SampleOutlet, frame: Frame): string {
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
${old ? oldHeader(outlet, phrases) : header(outlet, phrases)}
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

function menuLinks(phrases: Phrases): string[] {
  return phrases.footer.split(' · ').map(name => `<a href="/">${escapeMarkup(name)}</a>`)
}

function header(outlet: SampleOutlet, phrases: Phrases): string {
  const items = menuLinks(phrases).map(link => `<li>${link}</li>`)
  return `<header class="masthead"><a href="/">${escapeMarkup(outlet.name)}</a><p>${escapeMarkup(outlet.motto)}</p></header>
<nav><ul>${items.join('')}</ul></nav>`
}

/** A layout of tables, from the time before style sheets. */
function oldHeader(outlet: SampleOutlet, phrases: Phrases): string {
  return `<table width="100%" bgcolor="${outlet.colour}"><tr><td class="masthead"><a href="/">${escapeMarkup(outlet.name)}</a>
<p>${escapeMarkup(outlet.motto)}</p></td></tr></table>
<p class="menu">${menuLinks(phrases).join(' | ')}</p>`
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

/** The front page: all articles that a reader may open. */
export function homePage(outlet: SampleOutlet, texts: SampleText[]): string {
  const open = texts.filter(text => text.answer !== 'disallowed' && text.answer !== 'gone')
  const feeds = outlet.feeds.flatMap(feed => {
    const type = FEED_TYPES[feed.format]
    return type ? [`<link rel="alternate" type="${type}" href="${feed.path}">`] : []
  })
  return framePage(outlet, {
    title: `${outlet.name}: ${outlet.motto}`,
    head: feeds.join('\n'),
    main: `<main>${open.map(text => homeTeaser(outlet, text)).join('\n')}</main>`,
    language: outlet.languages[0],
  })
}

function homeTeaser(outlet: SampleOutlet, text: SampleText): string {
  return `<article><h3><a href="${escapeMarkup(outlet.address(text))}">${escapeMarkup(text.title)}</a></h3>
<p>${escapeMarkup(summaryOf(text))}</p><p class="meta">${escapeMarkup(inWords(text.publishedAt, outlet.timeZone, outlet.languages[0]))}</p></article>`
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
<p>${escapeMarkup(phrases.consent)}</p>
<form method="post"><button name="choice" value="all">${escapeMarkup(phrases.accept)}</button></form></main></body>
</html>
`
}

/** A page that only says that it does not exist. */
export function refusalPage(outlet: SampleOutlet, kind: 'notFound' | 'forbidden' | 'failed'): string {
  const message = PHRASES[outlet.languages[0]][kind]
  return framePage(outlet, {
    title: outlet.name,
    head: '<meta name="robots" content="noindex">',
    main: `<main><h1>${escapeMarkup(message)}</h1></main>`,
    language: outlet.languages[0],
  })
}

/** One plain style for all sites, coloured by outlet. */
export function styleSheet(colour: string): string {
  return `body { max-width: 44rem; margin: 0 auto; padding: 0 1rem; font: 1.05rem/1.6 Georgia, serif }
a { color: ${colour} }
.masthead { background: ${colour}; padding: 1rem }
.masthead * { color: #fff }
nav ul, .share ul { list-style: none; display: flex; gap: 1rem; padding: 0 }
`
}

import { createHash } from 'node:crypto'
import { once } from 'node:events'
import type { Server } from 'node:http'
import { Feed } from 'feed'
import { freePort } from '#infra/embedded/data-directory'
import { type Language, TIME_ZONES } from '#shared/articles/article'
import { escapeMarkup } from '#shared/encoding/markup'
import type { Outlet } from '#shared/outlets/catalogue'
import { http } from '#shared/process/http'
import { catalogueEntry, SAMPLE_OUTLETS, type SampleOutlet } from './outlets.ts'
import phrases from './phrases.json' with { type: 'json' }
import { isLanguage, type SampleText } from './texts.ts'

/*
 * The sample outlets as twelve real web servers on 127.0.0.1. Each has a port of its own, so that
 * it is a separate host for robots.txt and permits. First come the servers, then the answers of a
 * site.
 */

export interface SampleSites {
  catalogue: { outlets: Outlet[] }
  close(): Promise<void>
}

/**
 * Starts all sites.
 *
 * @param portOf gives a site its port, which is part of the addresses of its articles. With another
 * port, the same texts become other articles.
 */
export async function startSampleSites(
  portOf: (domain: string) => Promise<number>,
): Promise<SampleSites> {
  await using servers = new AsyncDisposableStack()
  const outlets: Outlet[] = []
  for (const outlet of SAMPLE_OUTLETS) {
    const port = await portOf(outlet.domain)
    const origin = `http://127.0.0.1:${port}`
    const answer = siteOf(outlet, origin)
    const server = http.createServer((request, response) => {
      const { status, type, body } = answer((request.url ?? '/').replace(/\?.*/, ''))
      const tag = `"${createHash('sha1').update(body).digest('hex')}"`
      const isKnown = status === 200 && request.headers['if-none-match'] === tag
      response.writeHead(isKnown ? 304 : status, {
        'Content-Type': `${type}; charset=utf-8`,
        ETag: tag,
      })
      response.end(isKnown ? '' : body)
    })
    server.on('error', () => {}).listen(port, '127.0.0.1')
    await once(server, 'listening')
    servers.defer(() => stop(server))
    outlets.push(catalogueEntry(outlet, origin))
  }
  const started = servers.move()
  return { catalogue: { outlets }, close: () => started.disposeAsync() }
}

async function stop(server: Server): Promise<void> {
  const closed = once(server, 'close')
  server.close()
  server.closeAllConnections()
  await closed
}

interface Answer {
  status: number
  type: string
  body: string
}

const html = (status: number, body: string): Answer => ({ status, type: 'text/html', body })

/** The answers of a site, by path. */
function siteOf(outlet: SampleOutlet, origin: string): (path: string) => Answer {
  const { texts } = outlet
  const robots = `User-agent: *\nDisallow: ${outlet.forbidden}\n`
  const missing = () => html(404, framed(outlet, '404', PHRASES[outlet.languages[0]].refused))
  const answers = new Map<string, () => Answer>([
    [
      '/',
      () =>
        html(
          200,
          framed(outlet, outlet.motto, texts.map(text => teaserOf(outlet, text)).join('\n')),
        ),
    ],
    ['/robots.txt', () => ({ status: 200, type: 'text/plain', body: robots })],
    [outlet.feed.path, () => ({ status: 200, ...feedOf(outlet, texts, origin) })],
    ...texts.map((text): [string, () => Answer] => [
      outlet.address(text),
      articleAt(outlet, text, origin),
    ]),
  ])
  return path => (answers.get(path) ?? missing)()
}

/**
 * The answer at an article's address. The field `answer` in the file of texts decides how the site
 * behaves.
 */
function articleAt(outlet: SampleOutlet, text: SampleText, origin: string): () => Answer {
  const { refused, cookies, consent } = phrasesOf(outlet, text)
  const page = () => html(200, articlePage(outlet, text, origin + outlet.address(text)))
  const refusal = (status: number) =>
    html(status, framed(outlet, String(status), `<p>${refused}</p>`))
  let asked = 0
  switch (text.answer) {
    case 'page':
    case 'paywall':
    case 'disallowed':
      return page
    case 'forbidden':
      return () => refusal(403)
    case 'gone':
      return () => refusal(404)
    case 'fails':
      return () => refusal(500)
    case 'fails-once':
      return () => (asked++ === 0 ? refusal(503) : page())
    case 'consent-wall':
      return () => html(200, consentPage(cookies, consent))
  }
}

/** The feed or the news sitemap of an outlet. */
function feedOf(outlet: SampleOutlet, texts: SampleText[], origin: string): Omit<Answer, 'status'> {
  const { name, domain, motto } = outlet
  const { format, whole } = outlet.feed
  if (format === 'sitemap')
    return { type: 'application/xml', body: sitemapOf(outlet, texts, origin) }
  const feed = new Feed({
    id: `${origin}/`,
    link: `${origin}/`,
    title: name,
    description: motto,
    generator: false,
    updated: texts[0]!.publishedAt,
  })
  for (const text of texts) {
    feed.addItem({
      title: text.title,
      id: `${domain}:${text.number}`,
      link: origin + outlet.address(text),
      date: text.publishedAt,
      published: text.publishedAt,
      description: text.paragraphs[0]!,
      author: text.authors.map(author => ({ name: author })),
      ...(whole && { content: paragraphsOf(text) }),
    })
  }
  const write = { rss: () => feed.rss2(), atom: () => feed.atom1(), json: () => feed.json1() }[
    format
  ]
  return { type: `application/${format === 'json' ? 'feed+json' : `${format}+xml`}`, body: write() }
}

function sitemapOf(outlet: SampleOutlet, texts: SampleText[], origin: string): string {
  const entries = texts.map(
    text => `<url><loc>${origin}${outlet.address(text)}</loc><news:news>
<news:publication><news:name>${outlet.name}</news:name><news:language>${text.language}</news:language></news:publication>
<news:publication_date>${text.publishedAt.toISOString()}</news:publication_date>
<news:title>${escapeMarkup(text.title)}</news:title></news:news></url>`,
  )
  return `<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:news="http://www.google.com/schemas/sitemap-news/0.9">
${entries.join('\n')}
</urlset>
`
}

/** Texts around an article, in its language. An extractor must leave all of them out. */
const PHRASES = phrases satisfies Record<Language, unknown>

const phrasesOf = (outlet: SampleOutlet, { language }: SampleText) =>
  PHRASES[isLanguage(language) ? language : outlet.languages[0]]

/** A page with the site's head and foot around `main`. */
function framed(
  outlet: SampleOutlet,
  title: string,
  main: string,
  metadata = '',
  language = outlet.languages[0],
) {
  return `<!DOCTYPE html>
<html lang="${language}">
<head>
<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeMarkup(title)} | ${escapeMarkup(outlet.name)}</title>
${metadata}
<style>body { max-width: 44rem; margin: auto; padding: 0 1rem; font: 1.05rem/1.6 serif }</style>
</head>
<body>
<header><a href="/">${escapeMarkup(outlet.name)}</a><p>${escapeMarkup(outlet.motto)}</p></header>
<main>
${main}
</main>
<footer><p>${escapeMarkup(PHRASES[outlet.languages[0]].footer)}</p></footer>
</body>
</html>
`
}

const consentPage = (cookies: string, consent: string) => `<!DOCTYPE html>
<html>
<head><meta charset="utf-8"><title>${cookies}</title></head>
<body><main class="cookie-consent"><h1>${cookies}</h1><p>${consent}</p><button>OK</button></main></body>
</html>
`

const teaserOf = (outlet: SampleOutlet, text: SampleText) =>
  `<h3><a href="${outlet.address(text)}">${escapeMarkup(text.title)}</a></h3><p>${escapeMarkup(text.paragraphs[0]!)}</p>`

function articlePage(outlet: SampleOutlet, text: SampleText, url: string): string {
  const { title, authors, section, publishedAt } = text
  const { by, subscribe } = phrasesOf(outlet, text)
  const language = isLanguage(text.language) ? text.language : outlet.languages[0]
  const timeZone = TIME_ZONES[outlet.country]
  const date = publishedAt.toLocaleString(language, {
    dateStyle: 'long',
    timeStyle: 'short',
    timeZone,
  })
  const signed =
    authors.length === 0 ? '' : `<p class="byline">${by} ${escapeMarkup(authors.join(', '))}</p>\n`
  const isOpen = text.answer !== 'paywall'
  const body = isOpen
    ? paragraphsOf(text)
    : `<p>${escapeMarkup(text.paragraphs[0]!.slice(0, 90))}…</p>`
  const offer = isOpen ? '' : `<div class="paywall"><p>${subscribe}</p></div>`
  const main = `<article>
<p>${escapeMarkup(section)}</p>
<h1>${escapeMarkup(title)}</h1>
${signed}<p><time datetime="${publishedAt.toISOString()}">${date}</time></p>
<div class="article-body">
${body}
</div>
${offer}</article>`
  return framed(outlet, title, main, metadataOf(outlet, text, url), language)
}

/** Title, authors and date for machines, in the form that the outlet uses. */
function metadataOf({ metadata }: SampleOutlet, text: SampleText, url: string): string {
  const { title, section, publishedAt, authors, language } = text
  switch (metadata) {
    case 'json-ld': {
      const article = {
        '@context': 'https://schema.org',
        '@type': 'NewsArticle',
        headline: title,
        articleSection: section,
        mainEntityOfPage: url,
        datePublished: publishedAt,
        inLanguage: language,
        isAccessibleForFree: text.answer !== 'paywall',
        author: authors.map(name => ({ '@type': 'Person', name })),
      }
      return `<script type="application/ld+json">${JSON.stringify(article)}</script>`
    }
    case 'open-graph':
      return [
        ['og:title', title],
        ['og:url', url],
        ['article:section', section],
        ['article:published_time', publishedAt.toISOString()],
        ...authors.map(name => ['article:author', name]),
      ]
        .map(
          ([property, content = '']) =>
            `<meta property="${property}" content="${escapeMarkup(content)}">`,
        )
        .join('\n')
    case 'none':
      return ''
  }
}

const paragraphsOf = ({ paragraphs }: SampleText) =>
  paragraphs.map(one => `<p>${escapeMarkup(one)}</p>`).join('\n')

// `node infra/outlets/sample/server.ts` serves only the sample outlets, until SIGTERM.
if (import.meta.main) {
  const sites = await startSampleSites(() => freePort())
  process.once('SIGTERM', () => void sites.close())
  process.stdout.write(`${JSON.stringify(sites.catalogue, null, 2)}\n`)
}

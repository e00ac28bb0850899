import type { RequestHandler, Router } from 'express'
import { SNIPPET_LENGTH } from '#search/analysis/text'
import { pageSecurity } from '#services/api/http/security'
import { type Language, OWN_NAMES } from '#shared/articles/article'
import type { Config } from '#shared/config/config'
import { documentOf, escapeMarkup } from '#shared/encoding/markup'
import { BOT_PATH, productToken } from '#shared/outlets/rights'
import words from './bot.json' with { type: 'json' }
import { makeFile, sendFile, type WebFile } from './files.ts'

/*
 * Publishers who see the crawler in their logs find here, in five languages, who it is and how to
 * refuse it. The small files that browsers request from every site are here, too.
 */

/** The texts for publishers in one language (`bot.json`). */
interface Words {
  title: string
  /** Paragraphs about what the crawler does; `{length}` stands for the length of a snippet. */
  does: string[]
  refuse: string
  /** The effect of each of `SIGNALS`. */
  effects: string[]
  contact: string
}

/** Signals that refuse or limit the crawler; `{bot}` stands for its name. */
const SIGNALS = [
  'User-agent: {bot}\nDisallow: /',
  'X-Robots-Tag: noindex\n<meta name="{bot}" content="noindex">',
  'max-snippet:N, nosnippet, data-nosnippet',
  'noarchive',
  '/.well-known/tdmrep.json, tdm-reservation: 1',
  'Content-Usage: search=n, ai-use=n\nContent-Signal: search=no, ai-input=no',
  'Crawl-delay: 10',
]

const WORDS: Record<Language, Words> = words

/** `/bot`: information about the crawler for publishers, without a key. */
export function addBotPage(router: Router, config: Config): void {
  const file = makeFile('text/html; charset=utf-8', botHtml(config))
  const answer: RequestHandler = (request, response) =>
    sendFile(request, response, file, 'public, max-age=300')
  router.get(BOT_PATH, pageSecurity(), answer)
}

function botHtml({ CRAWL_USER_AGENT, CRAWL_FROM, SERVICE_NAME }: Config): string {
  const bot = productToken(CRAWL_USER_AGENT)
  const links = Object.entries(OWN_NAMES).map(
    ([tag, name]) => `<a href="#${tag}" lang="${tag}">${name}</a>`,
  )
  const sections = Object.entries(WORDS).map(([tag, words]) => {
    const rows = SIGNALS.map((signal, at) => {
      return `<dt><pre>${escapeMarkup(signal.replaceAll('{bot}', bot))}</pre></dt><dd>${words.effects[at]}</dd>`
    })
    return [
      `<section lang="${tag}" id="${tag}"><h2>${words.title}</h2>`,
      ...words.does.map(text => `<p>${text.replace('{length}', String(SNIPPET_LENGTH))}</p>`),
      `<h3>${words.refuse}</h3><dl>${rows.join('')}</dl>`,
      `<p>${words.contact}: <code>${escapeMarkup([CRAWL_USER_AGENT, CRAWL_FROM].filter(Boolean).join(' '))}</code></p></section>`,
    ].join('')
  })
  const title = `${SERVICE_NAME}: ${bot}`
  const head = `<h1>${escapeMarkup(title)}</h1><nav>${links.join(' · ')}</nav>`
  return documentOf('en', title, '', head + sections.join(''))
}

/** Pages for people. All other paths need a key, or are feeds with secret addresses. */
const OPEN = ['/$', '/docs', '/bot', '/cite/', '/llms.txt']
const ROBOTS = ['User-agent: *', ...OPEN.map(path => `Allow: ${path}`), 'Disallow: /', ''].join(
  '\n',
)

/**
 * For language models (llmstxt.org). The text names no host, because the server may have several.
 */
const LLMS = `# Perscope

> A news search for the Netherlands, Belgium and Luxembourg, in Dutch, French, German, Luxembourgish and English. It needs a key.

- [For agents](/docs/agents.md): read-only tools by the Model Context Protocol, at \`POST /mcp\`
- [Reference](/docs) of the HTTP API; [its OpenAPI document](/v1/openapi.json), and [what is beside it](/explore/openapi.json)
`

/** The logo of the pages. */
const ICON =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#115e67"/><path d="M9 26V6h8a6.5 6.5 0 0 1 0 13h-4" fill="none" stroke="#fff" stroke-width="3.4"/></svg>'

const TEXT = 'text/plain; charset=utf-8'
const FILES: Readonly<Record<string, WebFile>> = {
  '/robots.txt': makeFile(TEXT, ROBOTS),
  '/llms.txt': makeFile(TEXT, LLMS),
  '/favicon.ico': makeFile('image/svg+xml', ICON),
}

/** Addresses that browsers and programs request from every site. */
export const WELL_KNOWN_PATHS: string[] = [...Object.keys(FILES), '/.well-known/security.txt']

/** The pages of `WELL_KNOWN_PATHS`, without a key. */
export function addWellKnownPages(router: Router, config: Config, publicUrl: string): void {
  router.get(WELL_KNOWN_PATHS, (request, response) => {
    const file = FILES[request.path] ?? makeFile(TEXT, securityText(config, publicUrl, new Date()))
    return sendFile(request, response, file, 'public, max-age=86400')
  })
}

/**
 * The text of security.txt (RFC 9116). It expires in five to six months, so it changes once a
 * month.
 */
function securityText({ CRAWL_FROM }: Config, publicUrl: string, now: Date): string {
  const expires = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 6, 1))
  return [
    `Contact: ${CRAWL_FROM === '' ? `${publicUrl}/bot` : `mailto:${CRAWL_FROM}`}`,
    `Expires: ${expires.toISOString()}`,
    'Preferred-Languages: en, nl, fr, de',
    `Canonical: ${publicUrl}/.well-known/security.txt`,
    '',
  ].join('\n')
}

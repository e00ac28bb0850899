import { type RequestHandler, Router } from 'express'
import { SNIPPET_LENGTH } from '../../../search/analysis/text.ts'
import { type Language, OWN_NAMES } from '../../../shared/articles/article.ts'
import type { Config } from '../../../shared/config/config.ts'
import { productToken } from '../../../shared/outlets/rights.ts'
import { pageSecurity } from '../http/security.ts'
import { escapeHtml, makeFile, sendFile, type WebFile } from './files.ts'

/*
 * Publishers who see the crawler in their logs find here, in five languages, who it is and how to
 * refuse it. The small files that browsers request from every site are here, too.
 */

export const BOT_PATH = '/bot'

/** The texts for publishers in one language. */
interface Words {
  title: string
  /** Paragraphs about what the crawler does. */
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

const WORDS: Record<Language, Words> = {
  en: {
    title: 'About our crawler',
    does: [
      `This crawler reads the feeds and news pages of outlets in the Netherlands, Belgium and Luxembourg, so that clients can find articles. They see the title, a snippet of at most ${SNIPPET_LENGTH} characters and a link to you, never the whole text. No model is trained on your articles.`,
      'It asks a host for one address at a time, with a pause in between, and only for pages that your feeds name. It passes no paywall and no block.',
      'Where your host leaves out a certificate of its chain, the crawler fetches it from the address that your certificate names, as browsers do. It does not ask for robots.txt there.',
    ],
    refuse: 'How to refuse or bound it',
    effects: [
      'in robots.txt: nothing is fetched',
      'the page is not indexed',
      'the snippet is that short, absent, or without those parts',
      'the page itself is not kept',
      'text and data mining is reserved; what follows is the operator’s setting, by default no article',
      'by default: no article, or one that is found by its words alone',
      'seconds between two requests',
    ],
    contact: 'Contact',
  },
  nl: {
    title: 'Over onze crawler',
    does: [
      `Deze crawler leest de feeds en nieuwspagina’s van media in Nederland, België en Luxemburg, zodat klanten artikelen kunnen vinden. Zij zien de titel, een fragment van hoogstens ${SNIPPET_LENGTH} tekens en een link naar u, nooit de hele tekst. Met uw artikelen wordt geen model getraind.`,
      'Hij vraagt een host telkens om één adres, met een pauze ertussen, en alleen om pagina’s die uw feeds noemen. Hij omzeilt geen betaalmuur en geen blokkade.',
      'Laat uw host een certificaat van zijn keten weg, dan haalt de crawler het op bij het adres dat uw certificaat noemt, zoals browsers doen. Daar vraagt hij niet om robots.txt.',
    ],
    refuse: 'Weigeren of beperken',
    effects: [
      'in robots.txt: er wordt niets opgehaald',
      'de pagina wordt niet geïndexeerd',
      'het fragment is zo kort, ontbreekt, of mist die delen',
      'de pagina zelf wordt niet bewaard',
      'tekst- en datamining is voorbehouden; het gevolg is een instelling van de beheerder, standaard geen artikel',
      'standaard: geen artikel, of één dat alleen op woorden te vinden is',
      'seconden tussen twee verzoeken',
    ],
    contact: 'Contact',
  },
  fr: {
    title: 'À propos de notre robot',
    does: [
      `Ce robot lit les flux et les pages d’actualité des médias des Pays-Bas, de Belgique et du Luxembourg, afin que des clients trouvent des articles. Ils voient le titre, un extrait de ${SNIPPET_LENGTH} caractères au plus et un lien vers vous, jamais le texte entier. Aucun modèle n’est entraîné sur vos articles.`,
      'Il demande à un hôte une adresse à la fois, avec une pause entre deux, et seulement les pages que vos flux nomment. Il ne contourne ni mur payant ni blocage.',
      'Si votre hôte omet un certificat de sa chaîne, le robot le récupère à l’adresse que votre certificat indique, comme les navigateurs. Il n’y demande pas robots.txt.',
    ],
    refuse: 'Le refuser ou le limiter',
    effects: [
      'dans robots.txt\u00A0: rien n’est récupéré',
      'la page n’est pas indexée',
      'l’extrait est aussi court, absent, ou sans ces parties',
      'la page elle-même n’est pas conservée',
      'la fouille de textes et de données est réservée\u00A0; la suite dépend du réglage de l’exploitant, par défaut aucun article',
      'par défaut\u00A0: aucun article, ou un article qui n’est trouvé que par ses mots',
      'secondes entre deux requêtes',
    ],
    contact: 'Contact',
  },
  de: {
    title: 'Über unseren Crawler',
    does: [
      `Dieser Crawler liest Feeds und Nachrichtenseiten von Medien in den Niederlanden, Belgien und Luxemburg, damit Kunden Artikel finden. Sie sehen den Titel, einen Auszug von höchstens ${SNIPPET_LENGTH} Zeichen und einen Link zu Ihnen, nie den ganzen Text. Mit Ihren Artikeln wird kein Modell trainiert.`,
      'Er fragt einen Host immer nur nach einer Adresse auf einmal, mit einer Pause dazwischen, und nur nach Seiten, die Ihre Feeds nennen. Er umgeht keine Bezahlschranke und keine Sperre.',
      'Lässt Ihr Host ein Zertifikat seiner Kette weg, holt der Crawler es von der Adresse, die Ihr Zertifikat nennt, wie Browser es tun. Dort fragt er nicht nach robots.txt.',
    ],
    refuse: 'Ablehnen oder begrenzen',
    effects: [
      'in robots.txt: Es wird nichts abgerufen',
      'die Seite wird nicht indexiert',
      'der Auszug ist so kurz, fehlt oder lässt diese Teile aus',
      'die Seite selbst wird nicht aufbewahrt',
      'Text und Data Mining ist vorbehalten; die Folge ist eine Einstellung des Betreibers, standardmäßig kein Artikel',
      'standardmäßig: kein Artikel oder einer, der nur über seine Wörter zu finden ist',
      'Sekunden zwischen zwei Anfragen',
    ],
    contact: 'Kontakt',
  },
  lb: {
    title: 'Iwwer eise Crawler',
    does: [
      `Dëse Crawler liest d’Feeds an d’Neiegkeetesäite vu Medien an den Nidderlanden, der Belsch a Lëtzebuerg, fir datt Clienten Artikele fannen. Si gesinn den Titel, en Auszuch vun héchstens ${SNIPPET_LENGTH} Zeechen an e Link bei Iech, ni de ganzen Text. Mat Ären Artikele gëtt kee Modell trainéiert.`,
      'E freet en Host ëmmer nëmmen no enger Adress, mat enger Paus dertëscht, an nëmmen no Säiten, déi Är Feeds nennen. E contournéiert keng Paywall a keng Spär.',
      'Léisst Ären Host en Zertifikat vu senger Ketten ewech, da rifft de Crawler et vun der Adress of, déi Äert Zertifikat nennt, wéi Browser et maachen. Do freet en net no robots.txt.',
    ],
    refuse: 'Refuséieren oder limitéieren',
    effects: [
      'an der robots.txt: et gëtt näischt ofgeruff',
      'd’Säit gëtt net indexéiert',
      'den Auszuch ass esou kuerz, feelt, oder léisst dës Deeler ewech',
      'd’Säit selwer gëtt net gespäichert',
      'Text an Data Mining ass virbehalen; wat geschitt, ass eng Astellung vum Bedreiwer, als Standard keen Artikel',
      'als Standard: keen Artikel oder een, deen nëmmen iwwer seng Wierder ze fannen ass',
      'Sekonnen tëscht zwou Ufroen',
    ],
    contact: 'Kontakt',
  },
}

/** `/bot`: information about the crawler for publishers, without a key. */
export function botPage(config: Config): Router {
  const file = makeFile('text/html; charset=utf-8', botHtml(config))
  const answer: RequestHandler = (request, response) =>
    sendFile(request, response, file, 'public, max-age=300')
  const router = Router({ strict: true, caseSensitive: true })
  router.get(BOT_PATH, pageSecurity(), answer)
  return router
}

function botHtml({ CRAWL_USER_AGENT, CRAWL_FROM, SERVICE_NAME }: Config): string {
  const bot = productToken(CRAWL_USER_AGENT)
  const links = Object.entries(OWN_NAMES).map(
    ([tag, name]) => `<a href="#${tag}" lang="${tag}">${name}</a>`,
  )
  const sections = Object.entries(WORDS).map(([tag, words]) => {
    const rows = SIGNALS.map((signal, at) => {
      return `<dt><pre>${escapeHtml(signal.replaceAll('{bot}', bot))}</pre></dt><dd>${words.effects[at]}</dd>`
    })
    return [
      `<section lang="${tag}" id="${tag}"><h2>${words.title}</h2>`,
      ...words.does.map(text => `<p>${text}</p>`),
      `<h3>${words.refuse}</h3><dl>${rows.join('')}</dl>`,
      `<p>${words.contact}: <code>${escapeHtml([CRAWL_USER_AGENT, CRAWL_FROM].filter(Boolean).join(' '))}</code></p></section>`,
    ].join('')
  })
  const title = escapeHtml(`${SERVICE_NAME}: ${bot}`)
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title}</title></head><body><h1>${title}</h1><nav>${links.join(' · ')}</nav>${sections.join('')}</body></html>`
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

- [For agents](/docs/agents.md): six read-only tools by the Model Context Protocol, at \`POST /mcp\`
- [Reference](/docs) of the HTTP API; [its OpenAPI document](/v1/openapi.json), and [what is beside it](/explore/openapi.json)
`

/** The logo of the pages (web/parts/page.html). */
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
export function wellKnownPages(config: Config, publicUrl: string): Router {
  const router = Router({ strict: true, caseSensitive: true })
  router.get(WELL_KNOWN_PATHS, (request, response) => {
    const file = FILES[request.path] ?? makeFile(TEXT, securityText(config, publicUrl, new Date()))
    return sendFile(request, response, file, 'public, max-age=86400')
  })
  return router
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

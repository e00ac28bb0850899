import { type InterstitialKind, recogniseInterstitial } from '../../services/normaliser/interstitials/interstitials.ts'
import { openingOf } from '../../services/normaliser/interstitials/paywall.ts'
import { parsePage } from '../../services/normaliser/markup/tree.ts'
import { readMetadata } from '../../services/normaliser/metadata/metadata.ts'
import { readPageText } from '../../services/normaliser/text/page-text.ts'

/** A page such as outlets and their defences serve in an article's place. */
export interface InterstitialExample {
  name: string
  kind: InterstitialKind
  html: string
  /** Where redirects led; the article's own address when absent. */
  finalUrl?: string
  /** A sentence that must never become an article's text. */
  says: string
}

/** Under this title the feed announced the articles that the examples stand in for. */
export const ANNOUNCED = 'Brug over de Schelde blijft tot vrijdag dicht voor vrachtwagens'
export const ANNOUNCED_AT = 'https://www.dagkoerier.example/binnenland/2026/11/brug-schelde-dicht'

const page = (title: string, body: string, head = '') =>
  `<!doctype html><html><head><meta charset="utf-8"><title>${title}</title>${head}</head><body>${body}</body></html>`

/** The last text is what must not become an article's. */
function example(kind: InterstitialKind, name: string, title: string, ...texts: string[]): InterstitialExample {
  const body = `<main><h1>${title}</h1>${texts.map(text => (text.startsWith('<') ? text : `<p>${text}</p>`)).join('')}</main>`
  return { name: `${kind}: ${name}`, kind, html: page(title, body), says: texts.at(-1)! }
}

const cookieWalls: [language: string, title: string, ...texts: string[]][] = [
  [
    'nl',
    'De Dagkoerier | Cookies',
    'De Dagkoerier en derden plaatsen cookies om uw bezoek te onthouden en gepersonaliseerde advertenties te tonen.',
    'Hiervoor vragen wij uw toestemming. Meer hierover leest u in onze privacyverklaring en ons cookiebeleid.',
  ],
  [
    'fr',
    'Le respect de votre vie privée est notre priorité',
    'Vous pouvez retirer votre consentement à tout moment dans notre politique de confidentialité.',
    'Avec votre consentement, nos 217 partenaires et nous utilisons des cookies pour traiter des données personnelles.',
  ],
  [
    'de, or pay',
    'Mit Werbung und Tracking weiterlesen',
    'Wir und unsere Werbepartner verarbeiten personenbezogene Daten und Cookies für personalisierte Anzeigen.',
    'Ihre Zustimmung zur Verwendung von Cookies ist jederzeit widerrufbar.',
  ],
  [
    'en',
    'Before you continue',
    'We value your privacy. We and our 812 partners store cookies on a device and process personal data.',
    'With your consent we and our advertising partners may use precise geolocation data.',
  ],
  [
    'lb',
    'Cookien',
    'Méi iwwer den Dateschutz an Är perséinlech Donnéeën fannt Dir an eise Cookie-Astellungen.',
    'Mir brauchen Är Zoustëmmung, fir Cookien ze benotzen an Iech personaliséiert Reklammen ze weisen.',
  ],
]

const challenges: [name: string, title: string, ...texts: string[]][] = [
  [
    'Cloudflare’s',
    'Just a moment...',
    '<script>window._cf_chl_opt={cvId:"2"}</script>',
    'www.dagkoerier.example needs to review the security of your connection before proceeding.',
  ],
  [
    'DataDome’s',
    'dagkoerier.example',
    '<script src="https://ct.captcha-delivery.com/c.js"></script>',
    'Please enable JS and disable any ad blocker',
  ],
  [
    'Akamai’s, with status 200',
    'Access Denied',
    'You don’t have permission to access "http://www.dagkoerier.example/binnenland" on this server.',
  ],
  [
    'Imperva’s',
    '',
    '<iframe src="/_Incapsula_Resource?SWUDNSAI=31&xinfo=5"></iframe>',
    'Request unsuccessful. Incapsula incident ID: 877000260167-105',
  ],
  [
    'nl',
    'Bent u een mens?',
    'We hebben verdacht verkeer vanaf uw netwerk gezien. Bevestig dat u geen robot bent om verder te gaan; u bent geen robot als u het vakje aanvinkt.',
  ],
  [
    'fr',
    'Vérification',
    '<div class="h-captcha"></div>',
    'Un instant, nous vérifions que vous n’êtes pas un robot. Nous avons détecté une activité inhabituelle depuis votre réseau.',
  ],
  [
    'de',
    'Sicherheitsüberprüfung',
    'Bitte bestätigen Sie, dass Sie ein Mensch sind. Wir haben ungewöhnliche Aktivitäten in Ihrem Netzwerk festgestellt.',
  ],
]

const errors: [name: string, title: string, text: string][] = [
  [
    'nl',
    'Pagina niet gevonden - De Dagkoerier',
    'De pagina die u zoekt bestaat niet meer of is verplaatst. Probeer het met de zoekfunctie.',
  ],
  ['nl, its text', 'De Dagkoerier', 'Helaas, de pagina die u zoekt bestaat niet meer. Ga terug naar de homepage.'],
  ['nl, its title', 'Deze pagina bestaat niet meer', 'U kunt wel ander nieuws lezen.'],
  ['fr', 'Le Quotidien', 'La page que vous recherchez n’existe plus ou a été déplacée. Retour à l’accueil.'],
  ['de', 'Der Tagesbote', 'Diese Seite existiert leider nicht mehr. Bitte versuchen Sie es später noch einmal.'],
  ['lb', 'Säit net fonnt', 'Dës Säit gëtt et net méi. Gitt zréck op d’Haaptsäit.'],
  ['en', 'The Courier', 'Sorry, the page you are looking for does not exist. Try the search.'],
  ['en, by region', 'The Courier', 'This content is not available in your region.'],
  ['a status in the title', '404', 'Oeps.'],
  ['a server’s message', '502 Bad Gateway', 'nginx'],
  ['a status after words', 'Fout 404 | De Dagkoerier', 'Wat u zoekt, is er niet.'],
  [
    'maintenance',
    'Onderhoud',
    'Onze website wordt op dit moment bijgewerkt. Wij zijn zo snel mogelijk weer bij u terug.',
  ],
]

const paywalls: [language: string, heading: string, says: string][] = [
  ['nl', 'Lees verder met een abonnement', 'Al abonnee? Log in. Onbeperkt toegang vanaf € 2,50 per week.'],
  ['fr', 'Cet article est réservé aux abonnés', 'Abonnez-vous pour lire la suite : 1 € par mois. Déjà abonné ?'],
  ['de', 'Jetzt weiterlesen mit Tageblatt+', 'Sie haben bereits ein Abo? Hier anmelden. Probemonat für 1 Euro.'],
  ['lb', 'Dësen Artikel ass just fir Abonnenten', 'Fir weider ze liesen, abonnéiert Iech fir 9 € pro Mount.'],
  ['en', 'This article is for subscribers only', 'Subscribe now to continue reading. Cancel any time.'],
]

const paywall = (heading: string, says: string) =>
  page(
    ANNOUNCED,
    `<article><h1>${ANNOUNCED}</h1><p>De brug over de Schelde in Temse blijft zeker tot vrijdag dicht voor vrachtwagens van meer dan 3,5 ton.</p><div class="slot"><h2>${heading}</h2><p>${says}</p></div></article>`,
    '<script type="application/ld+json">{"@context":"https://schema.org","@type":"NewsArticle","isAccessibleForFree":false}</script>',
  )

export const INTERSTITIAL_EXAMPLES: InterstitialExample[] = [
  {
    ...example('cookie wall', 'a host of its own', 'Privacy', 'Lees onze artikelen nadat u een keuze hebt gemaakt.'),
    finalUrl: 'https://myprivacy.uitgever.example/consent?siteKey=abc&callbackUrl=https%3A%2F%2Fwww.dagkoerier.example',
  },
  ...cookieWalls.map(wall => example('cookie wall', ...wall)),
  ...challenges.map(challenge => example('challenge', ...challenge)),
  ...errors.map(error => example('error page', ...error)),
  {
    ...example(
      'error page',
      'the front page',
      'De Dagkoerier: het laatste nieuws',
      'Een lange aankondiging. '.repeat(40),
    ),
    finalUrl: 'https://www.dagkoerier.example/',
  },
  ...paywalls.map(([language, heading, says]): InterstitialExample => {
    return { name: `paywall: ${language}`, kind: 'paywall', html: paywall(heading, says), says }
  }),
]

/** The interstitial that the normaliser takes a page for; null: it is an article. */
export function interstitialOf(
  html: string,
  more: { feedTitle?: string | null; finalUrl?: string; url?: string } = {},
): InterstitialKind | null {
  const { feedTitle = ANNOUNCED, url = ANNOUNCED_AT, finalUrl = url } = more
  const page = readPageText(parsePage(html))
  const { signs } = readMetadata(parsePage(html), finalUrl)
  const outletDomain = new URL(url).hostname.replace(/^www\./, '')
  const found = recogniseInterstitial({ url, finalUrl, html, page, signs, feedTitle, outletDomain })
  if (found !== null) return found
  return openingOf(page, html.includes('"isAccessibleForFree":false') ? false : null).paywalled ? 'paywall' : null
}

import type { InterstitialKind } from './interstitials.ts'

/**
 * A page such as outlets and their defences serve in an article's place, for tests and the
 * benchmark.
 */
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

export const INTERSTITIAL_EXAMPLES: InterstitialExample[] = [
  {
    name: 'a consent page on a host of its own (nl)',
    kind: 'cookie wall',
    finalUrl: 'https://myprivacy.uitgever.example/consent?siteKey=abc&callbackUrl=https%3A%2F%2Fwww.dagkoerier.example',
    html: page(
      'Privacy',
      '<main><h1>Welkom</h1><p>Lees onze artikelen nadat u een keuze hebt gemaakt.</p><p>Wij en onze partners bewaren gegevens op uw apparaat.</p></main>',
    ),
    says: 'Lees onze artikelen nadat u een keuze hebt gemaakt.',
  },
  {
    name: 'a cookie wall at the article’s own address (nl)',
    kind: 'cookie wall',
    html: page(
      'De Dagkoerier | Cookies',
      '<div class="container"><h1>Wij gebruiken cookies</h1><p>De Dagkoerier en derden plaatsen cookies om uw bezoek te onthouden en gepersonaliseerde advertenties te tonen. Hiervoor vragen wij uw toestemming.</p><p>Met cookies verzamelen wij persoonsgegevens zoals uw IP-adres. Meer hierover leest u in onze privacyverklaring en ons cookiebeleid.</p><p>Door op akkoord te klikken geeft u toestemming voor het plaatsen van cookies door 143 partners.</p><button>Akkoord</button></div>',
    ),
    says: 'Hiervoor vragen wij uw toestemming.',
  },
  {
    name: 'a cookie wall (fr)',
    kind: 'cookie wall',
    html: page(
      'Le Quotidien',
      '<div><h2>Le respect de votre vie privée est notre priorité</h2><p>Avec votre consentement, nos 217 partenaires et nous utilisons des cookies ou traceurs pour stocker et consulter des données personnelles comme votre visite sur ce site.</p><p>Vous pouvez retirer votre consentement ou vous opposer aux traitements fondés sur l’intérêt légitime à tout moment dans notre politique de confidentialité.</p><p>Publicités personnalisées, mesure de performance des publicités et du contenu, traceurs et cookies techniques.</p></div>',
    ),
    says: 'nos 217 partenaires et nous utilisons des cookies',
  },
  {
    name: 'a cookie wall or a paid way around it (de)',
    kind: 'cookie wall',
    html: page(
      'Ihre Einwilligung',
      '<div id="cmp"><h1>Mit Werbung und Tracking weiterlesen</h1><p>Besuchen Sie uns wie gewohnt mit Werbung und Tracking. Ihre Zustimmung zur Verwendung von Cookies ist jederzeit widerrufbar.</p><p>Details zu Werbe- und Analyse-Trackern sowie zum Widerruf finden Sie in unserer Datenschutzerklärung oder am Ende jeder Seite in den Datenschutz-Einstellungen.</p><p>Wir und unsere Werbepartner verarbeiten personenbezogene Daten und Cookies für personalisierte Anzeigen.</p></div>',
    ),
    says: 'jederzeit widerrufbar',
  },
  {
    name: 'a cookie wall (en)',
    kind: 'cookie wall',
    html: page(
      'Before you continue',
      '<div role="main"><p>We value your privacy. We and our 812 partners store and/or access information on a device, such as cookies, and process personal data.</p><p>With your consent we and our advertising partners may use precise geolocation data. You can manage preferences or withdraw consent at any time.</p></div>',
    ),
    says: 'We value your privacy',
  },
  {
    name: 'a cookie wall (lb)',
    kind: 'cookie wall',
    html: page(
      'Cookien',
      '<div><p>Mir brauchen Är Zoustëmmung, fir Cookien ze benotzen an Iech personaliséiert Reklammen ze weisen.</p><p>Méi iwwer den Dateschutz an Är perséinlech Donnéeën fannt Dir an eise Cookie-Astellungen. Akzeptéiert Dir d’Cookien?</p></div>',
    ),
    says: 'Mir brauchen Är Zoustëmmung',
  },
  {
    name: 'a challenge of Cloudflare’s',
    kind: 'challenge',
    html: page(
      'Just a moment...',
      '<div class="main-wrapper" role="main"><h1>www.dagkoerier.example</h1><h2>Checking if the site connection is secure</h2><p>www.dagkoerier.example needs to review the security of your connection before proceeding.</p><div>Ray ID: 7f0c1a2b3c4d5e6f</div></div><script>window._cf_chl_opt={cvId:"2"}</script>',
    ),
    says: 'needs to review the security of your connection',
  },
  {
    name: 'a challenge of DataDome’s',
    kind: 'challenge',
    html: page(
      'dagkoerier.example',
      '<p id="cmsg">Please enable JS and disable any ad blocker</p><script data-cfasync="false" src="https://ct.captcha-delivery.com/c.js"></script>',
    ),
    says: 'disable any ad blocker',
  },
  {
    name: 'a refusal of Akamai’s, with status 200',
    kind: 'challenge',
    html: page(
      'Access Denied',
      '<h1>Access Denied</h1><p>You don’t have permission to access "http://www.dagkoerier.example/binnenland" on this server.</p><p>Reference #18.2d351ab8.1557333295.a4e16ab</p>',
    ),
    says: 'You don’t have permission to access',
  },
  {
    name: 'a challenge of Imperva’s',
    kind: 'challenge',
    html: page(
      '',
      '<iframe src="/_Incapsula_Resource?SWUDNSAI=31&xinfo=5"></iframe><p>Request unsuccessful. Incapsula incident ID: 877000260167-105</p>',
    ),
    says: 'Request unsuccessful',
  },
  {
    name: 'a question whether one is a robot (nl)',
    kind: 'challenge',
    html: page(
      'Even geduld',
      '<main><h1>Bent u een mens?</h1><p>We hebben verdacht verkeer vanaf uw netwerk gezien. Bevestig dat u geen robot bent om verder te gaan; u bent geen robot als u het vakje aanvinkt.</p></main>',
    ),
    says: 'verdacht verkeer',
  },
  {
    name: 'a question whether one is a robot (fr)',
    kind: 'challenge',
    html: page(
      'Vérification',
      '<main><p>Un instant, nous vérifions que vous n’êtes pas un robot. Nous avons détecté une activité inhabituelle depuis votre réseau.</p><div class="h-captcha"></div></main>',
    ),
    says: 'une activité inhabituelle',
  },
  {
    name: 'a question whether one is a robot (de)',
    kind: 'challenge',
    html: page(
      'Sicherheitsüberprüfung',
      '<main><p>Bitte bestätigen Sie, dass Sie ein Mensch sind. Wir haben ungewöhnliche Aktivitäten in Ihrem Netzwerk festgestellt.</p></main>',
    ),
    says: 'ungewöhnliche Aktivitäten',
  },
  ...(
    [
      [
        'nl',
        'Pagina niet gevonden - De Dagkoerier',
        'De pagina die u zoekt bestaat niet meer of is verplaatst. Probeer het met de zoekfunctie.',
      ],
      [
        'fr',
        'Page introuvable | Le Quotidien',
        'La page que vous recherchez n’existe plus ou a été déplacée. Retournez à l’accueil.',
      ],
      [
        'de',
        'Seite nicht gefunden',
        'Die gewünschte Seite existiert leider nicht mehr. Vielleicht hilft Ihnen unsere Suche weiter.',
      ],
      ['lb', 'Säit net fonnt', 'Dës Säit gëtt et net méi. Gitt zréck op d’Haaptsäit a probéiert et nach eng Kéier.'],
      [
        'en',
        '404 – Not Found',
        'The page you are looking for has moved or never was. Try the search instead, or go home.',
      ],
    ] as const
  ).map(
    ([language, title, says]): InterstitialExample => ({
      name: `a page that is not there, with status 200 (${language})`,
      kind: 'error page',
      html: page(title, `<main><h1>${title}</h1><p>${says}</p></main>`),
      says,
    }),
  ),
  {
    name: 'the front page at the end of the redirects',
    kind: 'error page',
    finalUrl: 'https://www.dagkoerier.example/',
    html: page(
      'De Dagkoerier: het laatste nieuws',
      `<main>${'<article><h2>Ander nieuws van vandaag</h2><p>Een lange aankondiging van een heel ander artikel, zoals die op een voorpagina staan, met genoeg woorden om op een tekst te lijken.</p></article>'.repeat(5)}</main>`,
    ),
    says: 'Een lange aankondiging van een heel ander artikel',
  },
  {
    name: 'a page under maintenance',
    kind: 'error page',
    html: page(
      'Onderhoud',
      '<h1>Onderhoud</h1><p>Onze website wordt op dit moment bijgewerkt. Wij zijn zo snel mogelijk weer bij u terug met alles wat u van ons gewend bent.</p>',
    ),
    says: 'zo snel mogelijk weer bij u terug',
  },
  ...(
    [
      [
        'nl',
        'Lees verder met een abonnement',
        'Al abonnee? Log in. Onbeperkt toegang vanaf € 2,50 per week, op elk moment opzegbaar.',
      ],
      [
        'fr',
        'Cet article est réservé aux abonnés',
        'Abonnez-vous pour lire la suite : 1 € par mois sans engagement. Déjà abonné ? Connectez-vous.',
      ],
      [
        'de',
        'Jetzt weiterlesen mit Tageblatt+',
        'Sie haben bereits ein Abo? Hier anmelden. Probemonat für 1 Euro, monatlich kündbar.',
      ],
      [
        'lb',
        'Dësen Artikel ass just fir Abonnenten',
        'Fir weider ze liesen, abonnéiert Iech fir 9 € pro Mount. Schonn Abonnent? Aloggen.',
      ],
      [
        'en',
        'This article is for subscribers only',
        'Subscribe now to continue reading. Unlimited digital access for €1 per week, cancel any time.',
      ],
    ] as const
  ).map(
    ([language, heading, says]): InterstitialExample => ({
      name: `a paywall stub (${language})`,
      kind: 'paywall',
      html: page(
        ANNOUNCED,
        `<article><h1>${ANNOUNCED}</h1><p>De brug over de Schelde in Temse blijft zeker tot vrijdag dicht voor vrachtwagens van meer dan 3,5 ton.</p><div class="slot"><h2>${heading}</h2><p>${says}</p></div></article>`,
        '<script type="application/ld+json">{"@context":"https://schema.org","@type":"NewsArticle","isAccessibleForFree":false}</script>',
      ),
      says,
    }),
  ),
]

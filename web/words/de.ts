import type { Words } from './en.ts'

export const de: Words = {
  app: {
    tagline: 'Nachrichtensuche für die Niederlande, Belgien und Luxemburg',
    skip: 'Zu den Ergebnissen',
    language: 'Sprache dieser Seite',
    docs: 'API-Referenz',
    named: (name, value) => `${name}: ${value}`,
    copy: 'Kopieren',
    copied: 'Kopiert.',
    copyFailed: 'Dieser Browser lässt die Seite nicht kopieren. Markieren Sie den Text.',
  },
  key: {
    title: 'Ein Schlüssel öffnet die Suche',
    about:
      'Perscope durchsucht die Nachrichten von Medien in den Niederlanden, Belgien und Luxemburg: nach Wörtern, mit einer booleschen Anfrage oder nach der Bedeutung, über Sprachen hinweg. Diese Seite dürfen alle sehen; zum Suchen braucht es einen Schlüssel.',
    how: 'Wer diesen Dienst betreibt, vergibt die Schlüssel. Sind Sie das selbst, erzeugt dieser Befehl einen:',
    started: 'npm start zeigt eine Adresse, die diese Seite mit einem Schlüssel öffnet.',
    label: 'Ihr Schlüssel',
    hint: 'Er beginnt mit psk_. Ohne das Häkchen bleibt er in diesem Tab. Er steht nie in einer Adresse.',
    use: 'Suche öffnen',
    remember: 'Auf diesem Gerät merken',
    forget: 'Schlüssel vergessen',
    forgotten: 'Der Schlüssel ist vergessen.',
    trying: 'Der Schlüssel wird geprüft …',
    offer:
      'Ein Link oder ein Feld hat einen anderen Schlüssel gebracht. Er wird erst verwendet, wenn Sie zustimmen.',
    useOther: 'Diesen Schlüssel verwenden',
    keepOwn: 'Meinen behalten',
  },
  search: {
    title: 'Nachrichten durchsuchen',
    label: 'Suchen nach',
    placeholder: {
      keyword: 'brüssel metro',
      boolean: 'brüssel "metro 3" -streik',
      expression: '(brüssel OR bruxelles) NEAR/5 ~metro',
      semantic: 'Hochwasser entlang der Maas',
    },
    go: 'Suchen',
    modes: 'Art der Suche',
    mode: { keyword: 'Wörter', boolean: 'Boolesch', expression: 'Ausdruck', semantic: 'Bedeutung' },
    modeAbout: {
      keyword: 'Eines der Wörter, in allen Formen.',
      boolean: 'Alle Wörter, wie sie dastehen; "eine Wortfolge"; -ohne.',
      expression: 'Wörter, "Wortfolgen", ~Formen, title:, AND, OR, NOT, NEAR/5, Klammern.',
      semantic: 'Nach der Bedeutung, in allen fünf Sprachen.',
    },
  },
  reading: {
    any: 'Gelesen als: einer der Begriffe',
    all: 'Gelesen als: alle Begriffe',
    not: 'ohne',
    meaning:
      'Gelesen als: die 500 Artikel mit der ähnlichsten Bedeutung, in jeder Sprache, dann Ihre Filter.',
    tree: 'Gelesen als:',
    expression: {
      open: 'Was bei Zeichen N beginnt, ist nicht geschlossen; schreiben Sie noch ein Anführungszeichen, oder ).',
      close: 'Die Klammer bei Zeichen N schließt nichts.',
      lacking:
        'Dem Operator bei Zeichen N fehlen Wörter daneben; klein geschriebene Operatoren sind Wörter.',
      wildcard:
        'In einem Wort kann kein * oder ? stehen, wie bei Zeichen N; schreiben Sie ~ vor ein Wort für alle seine Formen.',
      operator:
        'Einen Operator wie bei Zeichen N gibt es nicht; schreiben Sie NEAR/1 bis NEAR/50 zwischen zwei Wörter, oder das Wort klein oder in Anführungszeichen.',
      field:
        'Ein Feld wie bei Zeichen N gibt es nicht; schreiben Sie title: vor ein Wort, wählen Sie Zeitungen, Autoren und Sprachen in den Filtern, oder setzen Sie ein Leerzeichen hinter den Doppelpunkt.',
      excludes:
        'Was bei Zeichen N beginnt, schließt nur aus; nennen Sie, was vorkommen muss, wie in (a NOT b).',
      operand:
        'Was bei Zeichen N steht, passt nicht: ~ nimmt ein Wort, NEAR zwei Wörter, ~Wörter oder Wortgruppen, oder einige davon mit OR in Klammern.',
      limit:
        'Bei Zeichen N wird es zu viel; schreiben Sie höchstens 64 Wörter, und 8 Klammern ineinander.',
    },
    refused: 'So kann hier nicht gesucht werden.',
    problem: {
      nothing: 'Schreiben Sie mindestens einen Buchstaben oder eine Ziffer.',
      openQuote:
        'Ein Anführungszeichen ist nicht geschlossen. Setzen Sie ein " hinter die Wortfolge.',
      onlyExclusions:
        'Ausschlüsse allein finden nichts. Nennen Sie mindestens ein Wort, das vorkommen muss.',
      short: 'Für die Suche nach Bedeutung schreiben Sie mindestens 2 Zeichen.',
      long: 'Schreiben Sie höchstens 191 Zeichen.',
    },
    hint: {
      operator: word => `„${word}“ wird als Wort gelesen. „Ausdruck“ kennt AND, OR und NOT.`,
      wildcard:
        '* zählt nicht: Es gibt keine Platzhalter. Die Suche nach Wörtern findet alle Formen.',
      quotes: 'Nur gerade Anführungszeichen (") bilden eine Wortfolge.',
      ignored: 'Anführungszeichen und Minus zählen nur bei boolescher Suche.',
      useBoolean: 'Boolesch suchen',
      useKeyword: 'Nach einem der Wörter suchen',
    },
  },
  filters: {
    title: 'Filter',
    active: n => `${n} Filter`,
    searchIn: 'Suchen in',
    inTitle: 'Titeln',
    inBoth: 'Titeln und Texten',
    country: 'Land des Mediums',
    language: 'Sprache des Artikels',
    outlet: 'Medium',
    outletHint: 'Teil von Name oder Domain',
    author: 'Autor',
    authorHint: 'Teil eines Namens',
    hasAuthor: 'Autor genannt',
    either: 'Mit oder ohne',
    withAuthor: 'Mit',
    withoutAuthor: 'Ohne',
    dates: 'Erschienen',
    from: 'Von',
    to: 'Bis',
    presets: { today: 'Heute', week: '7 Tage', month: '30 Tage', year: '12 Monate' },
    sort: 'Reihenfolge',
    orders: {
      newest: 'Neueste zuerst',
      oldest: 'Älteste zuerst',
      latest: 'Zuletzt erfasste zuerst',
      earliest: 'Zuerst erfasste zuerst',
      best: 'Ähnlichste zuerst',
    },
    clear: 'Filter entfernen',
    on: 'Gesetzte Filter',
    remove: name => `Entfernen: ${name}`,
    since: day => `ab ${day}`,
    until: day => `bis ${day}`,
    swap: 'Tage tauschen',
    wrong: {
      dates: 'Dieser Tag kann nicht gesucht werden. Wählen Sie einen zwischen 1900 und 2100.',
      reversed: 'Der erste Tag liegt nach dem letzten.',
      name: 'Schreiben Sie einen Teil eines Namens, mit mindestens einem Buchstaben oder einer Ziffer.',
      other: 'Diese Wahl passt nicht zu den anderen.',
    },
    suggestions: n => (n === 1 ? '1 Vorschlag' : `${n} Vorschläge`),
  },
  results: {
    title: 'Ergebnisse',
    searching: 'Suche läuft …',
    total: (n, one) => (one ? '1 Artikel' : `${n} Artikel`),
    more: n => `Mehr als ${n} Artikel`,
    everything: 'Alle Artikel',
    none: 'Keine passenden Artikel gefunden.',
    tryNext: 'Was helfen kann:',
    byMeaning: 'Nach Bedeutung suchen, in allen fünf Sprachen',
    without: filter => `Ohne „${filter}“`,
    compact: 'Kompakte Liste',
    searchBoth: 'In Titeln und Texten suchen',
    tryFewer: 'Verwenden Sie weniger oder andere Wörter oder entfernen Sie einen Filter.',
    loadMore: 'Mehr anzeigen',
    end: 'Das ist alles.',
    fresh: (n, one) => (one ? '1 neuer Artikel' : `${n} neue Artikel`),
    relevance: percent => `Nähe ${percent}`,
    near: (n, one) =>
      `${one ? '1 Artikel hat' : `${n} Artikel haben`} eine ähnliche Bedeutung. Was folgt, kann von etwas anderem handeln.`,
    far: 'Keiner davon hat eindeutig eine nahe Bedeutung. Was Sie suchen, kann trotzdem dabei sein.',
    close: n => `${n} mit naher Bedeutung`,
    noDate: 'Ohne Datum',
    noTitle: 'Ohne Titel',
    places: (n, one, late) =>
      one
        ? `1 Stelle im Text, in der ${late ? 'zweiten' : 'ersten'} Hälfte`
        : `${n} Stellen im Text, die erste in der ${late ? 'zweiten' : 'ersten'} Hälfte`,
    empty: 'Es gibt noch keine Artikel.',
    emptyHow:
      'Wer diesen Dienst betreibt, füllt ihn: npm run outlets fügt Medien zum Einlesen hinzu, npm run import eigene Artikel.',
    page: 'Seite dieses Artikels',
    locked: 'Diese Seite zeigt einen Artikel. Geben Sie Ihren Schlüssel ein, um ihn zu sehen.',
    open: 'Artikel öffnen',
    noArticle: 'In Ihrem Tarif gibt es keinen Artikel mit dieser Kennung.',
    takenOut: (day: string) => `Dieser Artikel wurde am ${day} entfernt.`,
    owner: 'Der Artikel gehört dem Medium. Sein Titel führt dorthin.',
  },
  copies: {
    outlets: (n, one) =>
      one
        ? 'Teilt den größten Teil des Textes mit 1 Medium'
        : `Teilt den größten Teil des Textes mit ${n} Medien`,
    more: (n, one) =>
      one
        ? '1 weiterer teilt den größten Teil des Textes mit diesem'
        : `${n} weitere teilen den größten Teil des Textes mit diesem`,
    texts: (n, one) => (one ? '1 Text' : `${n} Texte`),
    once: 'Jeder Text einmal',
    timeline: 'Texte im Lauf der Zeit',
    onceAbout:
      'Zusammengefasst sind Artikel, die den größten Teil ihres Textes teilen: mindestens 60 % des kürzeren. Sie stehen unter dem ersten.',
    shared: 'Gemeinsam mit dem ersten',
    first: 'der erste',
    version: 'eine frühere oder spätere Fassung oder ein Zitat',
    source: 'Als Quelle genannt',
    headline: 'Titel',
    own: 'Eigene Wörter',
    languages: n => `In anderen Sprachen: mindestens ${n}`,
    days: days =>
      days === 0
        ? 'innerhalb eines Tages'
        : `${Math.abs(days)} ${Math.abs(days) === 1 ? 'Tag' : 'Tage'} ${days < 0 ? 'davor' : 'danach'}`,
  },
  insights: {
    title: 'Zahlen',
    timeline: 'Artikel im Lauf der Zeit',
    unit: 'Zeiteinheit',
    units: {
      fitting: unit => `Passend (${unit.replace('Pro', 'pro')})`,
      hour: 'Pro Stunde',
      day: 'Pro Tag',
      week: 'Pro Woche',
      month: 'Pro Monat',
      year: 'Pro Jahr',
    },
    allTime: 'Die ganze Zeit',
    time: 'Zeit',
    articles: 'Artikel',
    brush: 'Klicken Sie auf einen Balken oder ziehen Sie über mehrere, um die Suche einzugrenzen.',
    asTable: 'Diese Zahlen als Tabelle',
    summary: (bars, unit, when, most) =>
      `Balkendiagramm, ${unit.replace('Pro', 'pro')}, ${bars} Balken. Am meisten: ${most}, ${when}.`,
    undated: n => `Ohne Datum: ${n}`,
    meaning: (found, of) => `Bisher nach Bedeutung zu finden: ${found} von ${of} Artikeln.`,
    waiting: 'Blasse Balken: Ein Teil dieser Artikel ist noch nicht nach Bedeutung zu finden.',
    failed: 'Die Zahlen konnten nicht geladen werden.',
    completeness: {
      title: 'Vorhanden',
      have: (n, of, outlet) =>
        `vorhanden: ${n} von ${of}, die von ${outlet || 'den Medien'} genannt wurden`,
      once: 'nur von Feeds gezählt',
      unread: n => `nicht lesbare Medien: ${n}`,
      striped:
        'Gestreift: Aus dieser Zeit fehlen erschienene Artikel. Kein Balken heißt nicht: keine Nachrichten.',
    },
    by: { outlet: 'Medien', language: 'Sprachen', country: 'Länder' },
    more: n => `Noch ${n}`,
    fewer: 'Weniger',
    other: n => `Andere Medien: ${n}`,
  },
  take: {
    open: 'Mitnehmen',
    download: 'Herunterladen',
    downloadAbout: 'Alle Ergebnisse dieser Suche, Seite für Seite, im Rahmen Ihres Tarifs.',
    pause: 'Anhalten',
    resume: 'Fortsetzen',
    cancel: 'Abbrechen',
    writtenOf: (n, total) => `${n} von ${total} Artikeln geschrieben`,
    done: n => `Fertig: ${n} Artikel.`,
    tooLarge:
      'Das ist mehr, als der Browser im Speicher hält. Grenzen Sie die Suche ein, oder verwenden Sie Chrome oder Edge, die in eine Datei schreiben.',
    keep: 'Speichern',
    tell: 'Benachrichtigen',
    show: 'Adressen zeigen',
    feedAbout:
      'Eine Adresse für Ihren Feedreader. Wer sie kennt, liest mit Ihrem Schlüssel; behalten Sie sie für sich.',
    feedMeaning:
      'Die Suche nach Bedeutung kennt nur die 500 ähnlichsten Artikel. Um den Nachrichten zu folgen, suchen Sie nach Wörtern.',
    feedHolds: n => `Er enthält die ${n} neuesten Artikel.`,
    feedFull: (most, n) =>
      `Diese Suche hatte an einem Tag ${most} Artikel, und der Feed enthält ${n}. Lassen Sie Ihren Feedreader mehrmals am Tag fragen, oder grenzen Sie die Suche ein.`,
    subscribe: 'Feed aus dieser Suche erstellen',
    feedMade: 'Kopieren Sie die Adresse jetzt: Sie wird nur dieses eine Mal angezeigt.',
    feedAddress: 'Adresse des Feeds',
    endFeed: 'Beenden',
    opml: 'Alle Feeds als OPML',
    code: 'In einem Programm verwenden',
    codeAbout:
      'Dieselbe Suche. Der Schlüssel kommt aus PERSCOPE_KEY; was Sie kopieren, dürfen Sie also weitergeben.',
    cite: 'Zitieren',
    compare: 'Vergleichen',
  },
  cite: {
    title: 'Eine zitierte Suche',
    about:
      'Eine Adresse, die diese Artikel dauerhaft zeigt, auch wenn die Suche später andere findet.',
    make: 'Adresse erstellen',
    none: 'Unter dieser Adresse gibt es kein Zitat.',
    day: (moment: string) => `Zitiert am ${moment}`,
    idsOnly:
      'Gesucht wurde nach Bedeutung: Die Artikel sind aufbewahrt, die Suche lässt sich nicht neu berechnen.',
    show: 'Artikel anzeigen',
    outside: (n: string) => `Außerhalb Ihres Tarifs oder gelöscht: ${n}`,
    locked: 'Um die Artikel zu sehen, geben Sie Ihren Schlüssel ein.',
  },
  compare: {
    about: 'Bis zu vier Suchen auf einer Zeitachse. Ändern Sie die Suche, und fügen Sie sie hinzu.',
    add: 'Diese Suche hinzufügen',
    by: { language: 'Eine Suche pro Sprache', country: 'Eine Suche pro Land' },
    values: { count: 'Anzahl', share: 'Anteil an allen Artikeln' },
    texts: 'Jeden Text einmal zählen',
    all: 'Alle',
    complete: 'Vollständig',
    hollow:
      'Hohl: An einem der Tage sind weniger als neun Zehntel dessen hier, was Medien nannten.',
  },
  alert: {
    title: 'Benachrichtigung',
    to: 'E-Mail-Adresse oder https://…',
    when: 'Wann',
    atOnce: 'sofort',
    daily: 'jeden Tag um',
    about:
      'Erfahren Sie von neuen Artikeln: per Mail oder an einen Webhook, sofort oder als tägliche Übersicht, oder in einem Feedreader. Die Suche wird dafür gespeichert.',
    nobody: 'noch niemand',
    feed: 'Feed',
    time: 'Uhrzeit der Übersicht',
    zone: 'Zeitzone',
    set: 'Benachrichtigen',
    end: 'Benachrichtigung beenden',
    asked: 'Wir haben eine E-Mail geschickt. Folgen Sie dem Link darin.',
    secret: 'Geheimnis für die Signaturen, nur dieses eine Mal zu sehen:',
    states: { on: 'an', asked: 'wartet auf Ihre Zustimmung', rests: 'ruht' },
  },
  kept: {
    title: 'Gespeicherte Suchen',
    about:
      'Eine gespeicherte Suche zählt, was neu ist, wenn Sie wiederkommen, und markiert es in ihrer Liste.',
    keep: 'Diese Suche speichern',
    kept: 'Die Suche ist gespeichert.',
    notKept: 'Die Suche konnte nicht gespeichert werden.',
    none: 'Sie haben noch keine Suche gespeichert. Suchen Sie, und wählen Sie dann „Speichern“ über den Ergebnissen.',
    fresh: (articles, texts) => `neu: ${articles}, ${texts}`,
    new: 'neu',
    byMeaning: 'Bei einer Suche nach Bedeutung wird nicht gezählt, was neu ist.',
    name: 'Name',
    rename: 'Umbenennen',
    move: 'Verschieben',
    moveAbout: 'Ziehen Sie sie, oder drücken Sie die Pfeiltasten nach oben und unten.',
    remove: 'Entfernen',
  },
  sets: {
    several: 'Mehrere Medien',
    add: 'Medium hinzufügen',
    title: 'Gruppen von Medien',
    about:
      'Medien mit einem Namen, um in allen zugleich zu suchen. Wählen Sie Medien bei den Filtern, und speichern Sie sie als Gruppe.',
    unknown: domains => `Kein Medium hat diese Domain: ${domains}`,
    save: 'Als Gruppe speichern',
    name: 'Name der Gruppe',
    yours: 'Ihre Gruppen',
    edit: 'Medien ändern',
  },
  countries: { NL: 'Niederlande', BE: 'Belgien', LU: 'Luxemburg' },
  languages: {
    nl: 'Niederländisch',
    fr: 'Französisch',
    de: 'Deutsch',
    lb: 'Luxemburgisch',
    en: 'Englisch',
  },
  failure: {
    title: {
      offline: 'Keine Antwort',
      key: 'Dieser Schlüssel funktioniert nicht',
      wait: 'Einen Augenblick',
      month: 'Das Monatskontingent ist aufgebraucht',
      request: 'So lässt sich nicht suchen',
      plan: 'Ihr Schlüssel deckt das nicht ab',
      semantic: 'Die Suche nach Bedeutung geht gerade nicht',
      server: 'Etwas ist schiefgegangen',
    },
    offline:
      'Der Dienst ist nicht erreichbar. Prüfen Sie Ihre Verbindung; die Seite versucht es erneut, sobald er wieder da ist.',
    invalid_token:
      'Er ist unbekannt oder widerrufen. Fragen Sie dort, wo Sie ihn bekommen haben, nach einem neuen.',
    too_many_failed_attempts:
      'Von Ihrer Adresse kamen zu viele falsche Schlüssel. Warten Sie, und fügen Sie dann einen gültigen ein.',
    rate_limit_exceeded:
      'Die Anfragen dieser Minute sind aufgebraucht. Die Seite macht von selbst weiter.',
    quota_exceeded:
      'Die Anfragen dieses Monats sind aufgebraucht. Warten Sie, oder wählen Sie einen größeren Tarif.',
    invalid_request: 'Berichtigen Sie, was markiert ist, und suchen Sie erneut.',
    country_not_included: 'Ihr Tarif deckt nicht jedes gewählte Land ab. Entfernen Sie eines.',
    history_not_included:
      'Ihr Tarif reicht nicht so weit zurück. Wählen Sie einen späteren ersten Tag.',
    semantic_search_unavailable:
      'Die Suche nach Wörtern geht weiter. Versuchen Sie die Suche nach Bedeutung in einer halben Minute erneut.',
    service_unavailable:
      'Die Datenbank ist nicht erreichbar. Die Seite versucht es von selbst erneut.',
    server: 'Versuchen Sie es erneut. Bleibt es so, melden Sie es dem Betreiber.',
    expired: 'Diese Ergebnisliste ist zu alt, um sie fortzusetzen. Suchen Sie erneut.',
    request: id => `Anfrage ${id}`,
    again: 'Erneut versuchen',
    byWords: 'Nach Wörtern suchen',
    in: wait => `Neuer Versuch in ${wait}`,
  },
}

import type { LanguageRules } from './nl.ts'

/** German. */
export const de: LanguageRules = {
  dates: {
    months:
      'januar jan janner jaenner|februar feb feber|marz maerz mar|april apr|mai|juni jun|juli jul|august aug|september sept sep|oktober okt|november nov|dezember dez',
    weekdays: 'montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag',
    ordinals: '',
    beforeMonth: '',
    beforeDay: 'am|den',
    beforeTime: 'um|gegen|uhrzeit:?',
    hours: 'uhr',
    around: 'am|um|den|vom',
    published:
      'veröffentlicht|erschienen|erstellt|eingestellt|gepostet|(?:artikel|beitrag|bericht) wurde|online seit',
    modified:
      '(?:aus)?gedruckt|(?:ab|auf)gerufen|generiert|aktualis|geändert|überarbeitet|korrigiert|korrektur|berichtigung|anmerkung der redaktion|ergänzung|nachtrag|letzte änderung|stand:? ?$',
    pictures: 'foto|bild',
  },
  authors: {
    byWords: 'von',
    labelLinks: 'von',
    openingByWords: String.raw`durch|(?:das (?:gespräch|interview) führ|die fragen stell)ten?|von(?!\s(?:der|den|dem|und)\s)`,
    indefiniteArticles: 'ein',
    openings: 'geschrieben|erstellt|verfasst|(?:blog )?beitrag|artikel|gastbeitrag',
    publishedVerbs: 'veröffentlicht|publiziert|geschrieben|erstellt|eingestellt',
    textLabels: 'redaktion|text',
    authorLabels: 'autor(?:in|en|innen)?',
    writtenVerbs: 'geschrieben|erstellt|verfasst',
    cardLabels: 'autor|verfasst|geschrieben|von',
    labels:
      'veröffentlicht|verfasst|geschrieben|aufgezeichnet|protokolliert|erstellt|text|autor(?:en|in|:in)?|redakteur(?:in)?|artikel|beitrag|ein (?:artikel|beitrag|bericht)|(?:ein )?(?:gast(?:beitrag|kommentar)|kommentar|interview|leitartikel|essay|porträt|(?:leser)?brief|(?:leser)?zuschrift|meinung)|(?:eine )?(?:analyse|reportage|glosse|kolumne|rezension)|bericht',
    staffPrefixes: '[Vv]on',
    staffPossessives: String.raw`[Uu]nser\p{L}*`,
    staffRoles:
      'edaktionsmitglied|orrespondent|itarbeiter|edakteur|eporter|ournalist|echtsanw[aä]lt',
    staffPlaces: 'in',
    credits: String.raw`foto(?!p)\p{L}*|bild(?!t|stein)\p{L}*|video|illustra\p{L}*|grafi\p{L}*|montage|übersetzung|kamera|schnitt`,
    conjunctions: 'und',
    conjunctionsBeforeFullName: '',
    placePrepositions: 'in|aus|für',
    placeArticles: 'die|der|das',
    datePrepositions: 'am|um|vom',
    weekdayEndings: 'tag',
    boxLinks: String.raw`Alle\s(?:Artikel|Beiträge)|Alles\svon|Mehr\svon`,
    boxWords: 'kategori|kommentar|veröffentl|symbolbild|foto(?!p)',
    work: '(?:chef)?redakt|korrespond|journalist|reporter|autor',
    copulas: 'ist',
    particles: 'von vom zu zum zur der den dem des das in auf und',
    surnamePrefixes: 'von|den|der',
    outletArticles: 'der|die|das',
    beforeAgency: 'die|der|mit|material de[rs]',
    offices: String.raw`\w*redaktion\w* herausgeber presse?stelle pressedienst presseamt pressemitteilung presseportal
      gastautor gastbeitrag unbekannt zvg verlag verein \w*stiftung gmbh e\s[vg]$ eg ag kg korrespondenten \w*zeitung
      unser\w* \w*verband \w*verbandes \w*minister\w* universitat \w*agentur\w* nachrichten\w* autor
      lesen kommentare? werbung anzeige`,
    beforeRole: 'der|die|das|stv',
    roles: String.raw`\w*redaktor\w* \w*redakteur\w* \w*journalist\w* \w*reporter\w* \w*korrespond\w* kolumnist\w* autor
      autorin chefredact\w* moderator\w* chef \w*leiter(?:in)? professor\s(?:fur|in) ekonom\w* historiker\w* expert\w* fotogra\w* fotos?
      bearbeit\w* projekt\w* ubersetzung veroffentlicht aktualisiert lesedauer uhr zuletzt letzte aktual\w* ist schreibt
      mitarbeit\w* mitglied aus in fur mit z\szt zzt zurzeit derzeit`,
  },
  text: {
    readAlso:
      'lesen sie (auch|hier|mehr)|lies (auch|hier|mehr)|mehr (zum thema|dazu|lesen|zu diesem)|(das|dies) könnte (sie|dich) (auch )?interessieren|auch interessant|siehe auch|weitere (artikel|themen|beiträge|links|informationen)|weiterführende|passend dazu|meistgelesen|zum thema|empfohlen|zur startseite|mehr aus der rubrik',
    offers: String.raw`nichts (mehr )?verpassen|weiterlesen mit|wir verwenden (\S+ )?cookies (um|für)|wir sind (jetzt |auch )?(bei|auf) whatsapp|folgen sie|kommentar (schreiben|verfassen)|artikel teilen|link kopieren|jetzt (kostenlos )?(abonnieren|anmelden|testen|registrieren|lesen)|(hier )?(abonnieren|folgen) sie|folge uns|folgt uns|melden sie sich|registriere dich|newsletter|(unser|der|den) [\p{L}-]*newsletter|bereits (abonnent|registriert)|unterstützen sie uns|(hat|war|gefällt) (ihnen|dir) (der|dieser|unser) (artikel|beitrag)|war der artikel|(diesen )?artikel (anhören|vorlesen)|ha(ben sie|st du) einen? (hinweis|tipp|geschichte)\b.{0,60}\b(redaktion|uns)\b`,
    stamps: 'veröffentlicht|aktualisiert|publiziert|erstellt am|stand:|lesezeit|lesedauer',
    readingTime: 'lesezeit|lesedauer',
    months: 'jan|feb|mär|apr|mai|jun|jul|aug|sep|okt|nov|dez',
    captions: 'foto|bild|quelle|symbolbild|archivbild',
    captionNotes: 'foto|bild|archiv|symbol|quelle',
    slides: 'bild|foto',
    slidesOf: 'von',
    credits: '',
    comments: 'kommentare?n?',
    rights: '(alle|die) rechte (sind )?vorbehalten|nachdruck, auch',
    machine:
      '(die |diese |der |das |dieser |dieses )?(grafik|karte|video|inhalt|infografik|tweet|beitrag|post|podcast|diagramm)( von \\S+)? (wird|werden) geladen|(wird )?geladen( …|\\.{3}|…)|lädt( …|\\.{3}|…)|(die |der |das |diese[rs]? )?(grafik|karte|video|inhalt|infografik|tweet|post) (kann|konnte) (leider )?nicht .{0,20}(geladen|angezeigt|dargestellt)|javascript ist (aus|deaktiviert)|dieses (video|audio) (kann|ist) (leider )?nicht|um dieses video (abzuspielen|anzusehen)|javascript muss|ihr (web)?browser|an dieser stelle (findest|finden|steht|befindet)|empfohlener (redaktioneller|externer) inhalt|ich bin damit einverstanden, dass|personenbezogene daten (können|werden)|externer inhalt|inhalt(e)? (laden|anzeigen|erlauben)|anzeige|werbung|der artikel geht',
    affiliates:
      'provisions-?link|partnerlink|partner-link|wir (earn|erhalten).{0,40}(commission|provision)',
    appearedFirst: '(der )?(beitrag|artikel) .+ erschien zuerst auf',
    moreInBrackets: 'mehr',
    readMore:
      'weiterlesen|mehr (lesen|dazu|erfahren|infos?)|(zum|den|ganzen|vollständigen|kompletten) (ganzen |vollständigen )?(artikel|beitrag|bericht)( lesen)?|lesen sie (hier )?(mehr|weiter|den ganzen (artikel|beitrag))',
  },
  interstitials: {
    consent:
      'einwilligung|zustimm|stimmen sie [^.]{0,20}\\bzu\\b|(verwend|nutz)en (\\S+ )?cookies|datenschutz|personenbezogene|berechtigte[sn]? interesse|alle (akzeptieren|ablehnen)|personalisierte|werbepartner|tracking|einstellungen',
    consentItself:
      'privatsphäre|personenbezogene data?|unsere (advertising )?part(n|en)|personalisierte',
    challenge:
      'bestätigen sie,? dass sie (ein mensch|kein roboter)|kein roboter|einen moment|überprüfung (ihres|der)|zugriff verweigert|ungewöhnliche (aktivität|zugriffe)|aktivieren sie javascript|ob sie ein mensch|sicherheit ihrer verbindung|ad[- ]?blocker|sie (sind|stehen) in der warteschlange',
    challengeTitles: '',
    challengeWholeTitles: '(nur )?einen moment( bitte)?|zugriff verweigert|sicherheitsüberprüfung',
    beforeErrorNumber: 'fehler',
    behindErrorNumber: 'fehler|seite|nicht gefunden',
    errorTitles: String.raw`^\W*(die )?seite (wurde )?nicht gefunden|^\W*(die |diese )?seite (existiert|konnte|wurde) (leider )?nicht|^\W*nicht gefunden\W*($|[|–—·])|^\W*(es ist )?ein fehler (ist )?aufgetreten`,
    failureTitles: String.raw`fehler\b|(ups|hoppla)\b|wartung(sarbeiten)?|ein fehler`,
    errors: String.raw`\b(seite|artikel|inhalt|beitrag|website|link)\b.{0,60}(existiert (leider )?nicht|nicht (mehr )?(existiert|gefunden|verfügbar|vorhanden|erreichbar)|verschoben|gelöscht|umgezogen)|nicht verfügbar in ihrem (land|gebiet)|fehler (ist )?aufgetreten|versuchen sie es (später|erneut|noch)|wartungsarbeiten|in kürze wieder|gleich wieder (da|für sie)|zur(ück zur)? startseite`,
    messages: String.raw`(mindestens|über|unter) (18|achtzehn|16|sechzehn) jahre|(18|achtzehn) jahren?( alt)? (oder älter|und älter|sind)|(nur )?für (volljährige|erwachsene)|(bestätigen|prüfen) sie.{0,12} ihr alter|alters(prüfung|nachweis|kontrolle|verifikation|freigabe)\W*$|browser (ist|wird) .{0,40}(veraltet|unterstützt)|aktualisieren sie .{0,12}browser|(aktuellen?|anderen|neueren|modernen) (version|browser)|(verfügbar|abrufbar|angesehen|zugänglich|sehen|aufgerufen).{0,40}\b(in|aus|außerhalb) (ihrem|deinem|diesem|deutschland|luxemburg|belgien|der)\b.{0,12}(land|region|gebiet|deutschland|luxemburg|belgien|eu)?|in (ihrem|deinem) (land|gebiet) nicht|(rechte|lizenz|sperrfrist).{0,50}(abgelaufen|erloschen|ausgelaufen)|(nicht (mehr|länger)|dürfen wir).{0,40}(zeigen|anbieten|anzeigen|verfügbar|veröffentlichen|bereitstellen)|aus (rechtlichen|lizenzrechtlichen|urheberrechtlichen) gründen|^\W*(anmelden|anmeldung|einloggen|login)\W*($|[|–—·])|(melden sie sich|loggen sie sich) (bitte )?(an|ein|mit)|passwort vergessen|(ihr|ein) (neues )?(passwort|konto)|konto (erstellen|anlegen)`,
    subscription: String.raw`\b(abo|abos|abonnent|abonnenten|abonnieren|abonnement|probeabo)\b|einloggen|unbegrenzte[rn]? (zugang|zugriff)|plus-?artikel|probemonat`,
    terms:
      'pro (woche|monat|jahr)|kündbar|monatlich|kostenlos|gratis|bereits|schon|jetzt|testen|angebot|zugang|zugriff',
    paywalled: String.raw`(weiterlesen|weiter lesen) mit|(lesen sie|lies) weiter mit (einem|ihrem|deinem) (\S{1,20} )?(abo|abonnement|konto)\b|(um|jetzt) (diesen artikel|weiter ?zu ?lesen|weiterlesen)|(nur|exklusiv|exclusiv) für (unsere )?abonnent|abonnenten vorbehalten|(dieser|der) (artikel|inhalt|beitrag) ist (nur|exklusiv|abonnenten|kostenpflichtig)|(sie haben|du hast) bereits ein abo|bereits abonnent|lesen sie (diesen|den) (ganzen |vollständigen )?artikel|mit (einem )?\S+-?(abo|plus)\b.{0,30}(lesen|zugriff|zugang)|abo abschließen|werden sie (jetzt )?abonnent|jetzt (ein )?abo\b|wählen sie ihr abo`,
    paths: 'anmelden',
  },
  markup: {
    boilerplate: `inhaltsverzeichnis kommentare (kommentar) (teilen) abo-?(box|layer|hinweis|teaser) spenden (anzeige) werbung
      meistgelesen mehr-?zum-?thema weitere-?(artikel|themen) autor(en)?-?(info|name|box|short|bio|card) (datum) lesezeit
      bildunterschrift bildnachweis bildquelle galerie umfrage`,
    leads: 'vorspann|anriss',
    authors: 'autor(?:en|in)?|verfasser',
    dates: 'datum|zeit',
    notPublished: 'aktualis|heute',
    asides: String.raw`kommentare?|verwandt\w*|meistgelesen`,
  },
  detection: {
    declaration: 'deu_1996',
    commonWords: `
    der die das und in zu den ist nicht von sie mit dem sich des ein auf für eine im es auch als an bei nach aus
    werden war wird hat sind oder um haben einen er wie am noch dass einem einer über so zum vor durch man kann wenn
    nur bis mehr aber zur ihre sein ich wir gegen unter können schon ohne diese dieser dieses seine muss doch soll ab
    wurde alle wurden seit hatte wegen sehr ihr ihm ihn was wo wer warum viele keine kein jetzt heute gestern morgen
    jahr jahre jahren tag tage woche monat uhr stunden minuten euro prozent millionen polizei minister regierung
    partei wahl wahlen stadt land länder deutschland deutsche deutschen österreich schweiz luxemburg berlin gericht
    richter verdächtige opfer brand unfall auto zug haus schule kinder frau frauen mann männer krieg ukraine russland
    usa europa unternehmen arbeit geld preis preise wetter regen sonne spiel spieler mannschaft tor gewonnen verloren
    laut zwischen ersten neue neuen großen gut schlecht groß klein lange hoch immer wieder wenig ganz weil damit dann
    also etwas nichts alles selbst du uns unser mein dein euch welche solche deshalb dort hier einmal vielleicht
    eigentlich bleiben bleibt finden findet bekommt geht gehen macht machen gemacht sagt sagte sagen kommt kommen
    steht stehen sieht sehen weiß wissen worden würde würden könnte müssen sollte wollen will möchte ja nein mal
`,
  },
}

import type { LanguageRules } from './nl.ts'

/**
 * Luxembourgish. Its outlets often use German and French, whose words are in `de.ts` and `fr.ts`.
 */
export const lb: LanguageRules = {
  dates: {
    months:
      'januar januaar jan|februar februaar feb|maerz maert mae|abrell abr|mee|juni jun|juli jul|august aug|september sep|oktober okt|november nov|dezember dez',
    weekdays: 'méindeg|dënschdeg|mëttwoch|donneschdeg|freideg|samschdeg|sonndeg',
    ordinals: '',
    beforeMonth: '',
    beforeDay: 'de',
    beforeTime: 'ëm',
    hours: 'auer',
    around: 'ëm',
    published: 'verëffentlecht|publizéiert|geschriwwen|online (?:zënter|zanter|gesat)',
    modified:
      '(?:aus)?gedréckt|ofgeruff|generéiert|nodrag|geännert|korrigéiert|rectificatioun|lescht ännerung',
    pictures: 'foto',
  },
  authors: {
    byWords: 'vun|vum',
    labelLinks: 'vun|vum',
    openingByWords: String.raw`vun(?:\sder)?|vum`,
    indefiniteArticles: 'eng',
    openings: 'artikel',
    publishedVerbs: '',
    textLabels: 'text',
    authorLabels: '',
    writtenVerbs: '',
    cardLabels: '',
    labels:
      '(?:en? |eng )?(?:text|artikel|interview|reportage|kommentar|analys|editorial|leitartikel|(?:lieser)?bréif|meenung)',
    staffPrefixes: '',
    staffPossessives: '',
    staffRoles: 'orrespondent|ournalist',
    staffPlaces: '',
    credits: String.raw`foto(?!p)\p{L}*|bild(?!t|stein)\p{L}*|video`,
    conjunctions: String.raw`an(?:\svu[nm])?(?:\sde[rm])?`,
    conjunctionsBeforeFullName: String.raw`a(?:\svu[nm])?(?:\sde[rm])?`,
    placePrepositions: '',
    placeArticles: '',
    datePrepositions: '',
    weekdayEndings: '',
    boxLinks: '',
    boxWords: '',
    work: 'redakt|korrespond|journalist|reporter',
    copulas: 'ass',
    particles: '',
    surnamePrefixes: '',
    outletArticles: 'd',
    beforeAgency: '',
    offices: 'redaktioun reklamm',
    beforeRole: '',
    roles: String.raw`\w*journalist\w* \w*korrespond\w* in`,
  },
  text: {
    readAlso: 'liest och|liesen och|méi zum thema|kuckt och',
    offers:
      'mir benotzen (\\S+ )?cookien (fir)|kommentar schreiwen|artikel deelen|abonnéier|schreift iech|follegt eis|(den )?artikel lauschteren|hutt dir (eng|e|en) .{0,60}\\b(redaktioun|eis)\\b',
    stamps: 'publizéiert|aktualiséiert|lieszäit',
    readingTime: '',
    months: 'jan|feb|mäe|abr|mee|jun|jul|aug|sep|okt|nov|dez',
    captions: '',
    captionNotes: '',
    slides: '',
    slidesOf: 'vun',
    credits: '',
    comments: '',
    rights: '',
    machine:
      'reklamm|(d.|den |de )?(kaart|grafik|video|inhalt|post) (gëtt|ginn) gelueden|(kaart|grafik|video|inhalt) konnt? net gelueden',
    affiliates: '',
    appearedFirst: '',
    moreInBrackets: '',
    readMore: 'liest (méi|weider|de ganzen artikel)|méi (liesen|dozou)|de ganzen artikel( liesen)?',
  },
  interstitials: {
    consent: 'cookien|zoustëmmung|dateschutz|perséinlech daten|akzeptéier',
    consentItself: 'perséinlech daten',
    challenge:
      'zougrëff refuséiert|kee roboter|ob dir e mënsch|sécherheet vun ärer verbindung|ad[- ]?blocker',
    challengeTitles: '',
    challengeWholeTitles: '',
    beforeErrorNumber: '',
    behindErrorNumber: 'säit|net fonnt',
    errorTitles: String.raw`^\W*säit (net|gouf net) fonnt|^\W*net fonnt\W*($|[|–—·])`,
    failureTitles: '',
    errors: String.raw`\b(säit|artikel|inhalt)\b.{0,60}(gëtt et net|net (méi )?(fonnt|do|disponibel)|geläscht)|probéiert et (nach|méi spéit)|zréck op d.haaptsäit`,
    messages: String.raw`(mindestens|op d.mannst|iwwer) (18|uechtzéng) joer|18 joer (oder|an) méi|(bestätegt|confirméiert) ären alter|alterskontroll\W*$|browser ass .{0,40}(ze al|net .{0,12}ënnerstëtzt)|(net|nëmmen|just) .{0,30}(an ärem land|vu lëtzebuerg aus)|(rechter|lizenz).{0,50}ofgelaf|^\W*(aloggen|umellen)\W*($|[|–—·])|(mellt|loggt) iech .{0,12}(un|an)\b|passwuert vergiess|kont uleeën`,
    subscription: 'abonnéier|aloggen|mellt iech|onlimitéierten zougang',
    terms: String.raw`pro mount|gratis|elo\b|zougang`,
    paywalled: String.raw`(liest|lies) (weider|virun) mat (engem|ärem|dengem) (\S{1,20} )?(abo|abonnement|kont)(?!\p{L})|(just|nëmme) fir abonnenten|fir (weider|virun|dësen artikel) ?ze ?liesen|dësen artikel ass (just|nëmmen|fir)|gitt abonnent|huelt (iech )?en abo`,
    paths: '',
  },
  markup: { boilerplate: '', leads: '', authors: '', dates: '', notPublished: '', asides: '' },
  detection: {
    declaration: 'ltz',
    commonWords: `
    moien gudden an a den d' de dem der déi dat deen deem deenen ass sinn si sin war waren wier wär gouf goufen gëtt ginn huet hunn
    hat haten hätt hätten kann kënnen konnt konnten kéint kéinten soll sollen sollt sollten muss mussen misst missten
    wëll wëllen wollt wollten däerf dierfen mécht maachen gemaach geet goen gaangen kënnt kommen seet soen gesot sot
    steet stoen läit leien fënnt fannen fonnt weess wëssen gesäit gesinn kritt kréien krut kruten bleift bleiwen
    bliwwen brauch brauchen hëlt huelen geholl schafft schaffen leeft wunnt wunnen mengt gëeent vun vum vu fir mat no
    nom op um am bei beim zu zum zur aus iwwer iwwert ënner ënnert tëscht duerch géint géigeniwwer wéinst trotz ouni
    virun viru virum hannert nieft bis zanter säit géif géifen net kee keng keen kengem näischt ni ëmmer dacks och
    nach schonn just nëmmen elo haut gëschter muer moies owes joer joren dag deeg woch wochen mount méint auer stonn
    stonnen dann well wann datt dass ob wéi wat wou wien wéini firwat awer mä mee oder sou esou soss also dofir domat
    dovun doduerch hei do dobäi erëm nees hien hatt et mir dir ech eis iech hinnen him hir hirem hirer säin seng
    sengem senger hiren mäin meng däin deng eisen ären all alles jiddereen jidder vill méi manner wéineg grouss
    groussen grousst kleng klengen nei neien neit al alen gutt gudden besser éischt éischten éischte zweeten drëtten
    lescht leschten leschte nächst nächsten aner aneren anerer selwer eng en engem enger een zwee zwou dräi véier
    fënnef sechs siwen aacht néng zéng honnert dausend millioun milliounen prozent lëtzebuerg lëtzebuergesch
    lëtzebuerger stad gemeng gemengen land länner regierung minister ministesch ministere premier chamber deputéierten
    deputéierte partei wahlen politik police accident mënsch mënschen leit kanner fra fraen mann männer schoul schüler
    aarbecht firma projet projeten gesetz geriicht affekot prozess strooss stroossen zuch auto autoen haus haiser
    wunneng wunnengen präis präisser suen euro welt europa frankräich däitschland belsch krich ukrain russland
    weltmeeschter spill spiller equipe match gewonnen verluer wieder reen schnéi sonn kéier problem problemer
    situatioun diskussioun organisatioun informatioun situatiounen decisioun kommissioun natioun natiounen eventuell
    wichteg richteg méiglech zimmlech eigentlech natierlech virschlag versécherung gesondheet fräiheet zäit zäiten
    aarbechter aarbechten schwéier liewen doud gestuerwen blesséiert verletzt festgeholl gefuer gesat geschriwwen
    gelies gestëmmt ugefaangen ofgeschloss opgemaach zougemaach virgestallt informéiert organiséiert kritiséiert
    confirméiert annoncéiert decidéiert presentéiert demonstréiert bezuelt verkaf kaf kafen hëllef hëllefen frou
    traureg schéin grujeleg roueg bréngen bruecht denken geduecht léieren geléiert verstoen verstanen erkläert
    reagéiert
`,
  },
}

import type { Language } from '../../../shared/articles/article.ts'

/**
 * Words that make a sentence in each language, and common words of its news, in today's spelling. They join the text
 * of the declaration of human rights (`texts.ts`), which for Luxembourgish follows an older spelling.
 */
export const COMMON_WORDS: Record<Language, string> = {
  nl: `
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
    krijgt krijgen doet doen zien ziet weten weet`,
  fr: `
    de la le les et des en un une du que dans est pour qui au sur par pas plus avec ne se il ce ont son sa ses sont
    mais aux nous vous été aussi leur comme elle cette ces ou fait être d' l' qu' n' s' c' j' était avait deux même
    tout tous toute après entre sans bien peut où contre selon depuis encore très lors avant moins autres autre on je
    tu ils elles lui y si leurs notre votre mon ma mes ton ta donc alors ainsi car quand comment pourquoi quel quelle
    aujourd'hui hier demain an ans année années jour jours semaine mois heure heures minutes euros millions police
    ministre gouvernement parti élections élection ville pays france français française belgique belge luxembourg
    bruxelles paris tribunal juge suspect victime victimes incendie accident voiture train maison école enfants femme
    femmes homme hommes guerre ukraine russie états-unis europe européenne entreprise entreprises travail argent prix
    météo pluie soleil match joueur équipe but gagné perdu premier première nouveau nouvelle nouveaux grand grande
    petit bon mauvais long haut toujours jamais peu beaucoup trop rien chose faire dit dire va vont vient doit doivent
    peuvent pourrait sera seront serait avoir eu mis pris reste voir sait savoir veut faut chez vers sous pendant
    jusqu' moi toi cela ça oui non`,
  de: `
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
    steht stehen sieht sehen weiß wissen worden würde würden könnte müssen sollte wollen will möchte ja nein mal`,
  lb: `
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
    reagéiert`,
  en: `
    the of and to in a is that for it as was with be by on not he his at from this but are have had they which one you
    were all her she there would their we him been has when who will no more if out so up said what its about than
    into them can only other time new some could these two may first then do any like my now over such our man me even
    most made after also did many before must through years where much your way well down should because each just
    those people how too little state good very make world still see own work men day get here between both being
    under never same another know while last might us great old year off come since against go came right used take
    three states himself few house use during without again place around however home found mrs part once went say
    thought government police minister party election city country britain british london court judge victim fire
    accident car train school children woman women war ukraine russia american european company companies money price
    prices weather rain match player team goal won lost according today yesterday tomorrow week month hours minutes
    million percent says don't isn't it's he's i'm can't won't`,
}

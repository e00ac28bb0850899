import type { Language } from '../vocabulary.ts'
import { BREAK, codeUnits } from './hashes.ts'
import { stem } from './stems.ts'
import { foldWord, KEPT, kindAt, PAIR, SEPARATOR, words } from './tokens.ts'

/*
 * Exports the pure functions on text: tokens, folding and stems. Stop words and word lists are
 * defined here. No function opens a connection, so a thread that only prepares texts can import
 * this file alone.
 */

export { hashOf, hashWords, pairHash, sortHashes } from './hashes.ts'
export { stem } from './stems.ts'
export { SNIPPET_RULES } from './text.ts'
export { foldName, foldWord, hasLetterOrDigit, NAME_RULES, words } from './tokens.ts'

/**
 * Version of the rules that make words of texts and queries, and of the rules that match words.
 * Raise it with every change that makes a search find other articles. A search that was cited under
 * an older version cannot be recomputed. Rules that build on words change with it (`rulesOn`).
 */
export const WORD_RULES = 1

/** The version of rules that build on others: it rises when one of them does. */
export const rulesOn = (own: number, ...bases: number[]): number =>
  bases.reduce((sum, base) => sum + 100 * (base - 1), own)

/*
 * Words that carry no meaning of their own (decision 40). The reference (`/docs`) prints each list
 * from here. Segments hold no stem of a stop word, so a change asks for `npm run reindex`. After an
 * addition, searches work before the reindex, with one exception: a word that has the same stem as
 * the added word still finds the added word in older articles. After a removal, searches work only
 * after the reindex.
 */

/**
 * nl, fr, de and en are the lists of the Snowball project (BSD 3-clause, Copyright (c) 2001, Dr
 * Martin Porter, and (c) 2002, Richard Boulton), as PostgreSQL ships them. We added missing parts
 * into which our tokenizer cuts contractions (`don't`). Snowball has no list for Luxembourgish, so
 * we wrote one.
 */
const BASE: Record<Language, string> = {
  nl: `
    de en van ik te dat die in een hij het niet zijn is was op aan met als voor had er maar om hem dan zou of
    wat mijn men dit zo door over ze zich bij ook tot je mij uit der daar haar naar heb hoe heeft hebben deze u
    want nog zal me zij nu ge geen omdat iets worden toch al waren veel meer doen toen moet ben zonder kan hun
    dus alles onder ja eens hier wie werd altijd doch wordt wezen kunnen ons zelf tegen na reeds wil kon niets
    uw iemand geweest andere
    `,
  fr: `
    au aux avec ce ces dans de des du elle en et eux il je la le leur lui ma mais me même mes moi mon ne nos
    notre nous on ou par pas pour qu que qui sa se ses son sur ta te tes toi ton tu un une vos votre vous c d j
    l à m n s t y été étée étées étés étant étante étants étantes suis es est sommes êtes sont
    serai seras sera serons serez seront serais serait serions seriez seraient étais était étions étiez
    étaient fus fut fûmes fûtes furent sois soit soyons soyez soient fusse fusses fût fussions fussiez
    fussent ayant ayante ayantes ayants eu eue eues eus ai as avons avez ont aurai auras aura aurons aurez
    auront aurais aurait aurions auriez auraient avais avait avions aviez avaient eut eûmes eûtes eurent aie
    aies ait ayons ayez aient eusse eusses eût eussions eussiez eussent
    `,
  de: `
    aber alle allem allen aller alles als also am an ander andere anderem anderen anderer anderes anderm andern
    anderr anders auch auf aus bei bin bis bist da damit dann der den des dem die das daß derselbe derselben
    denselben desselben demselben dieselbe dieselben dasselbe dazu dein deine deinem deinen deiner deines denn
    derer dessen dich dir du dies diese diesem diesen dieser dieses doch dort durch ein eine einem einen einer
    eines einig einige einigem einigen einiger einiges einmal er ihn ihm es etwas euer eure eurem euren eurer
    eures für gegen gewesen hab habe haben hat hatte hatten hier hin hinter ich mich mir ihr ihre ihrem ihren
    ihrer ihres euch im in indem ins ist jede jedem jeden jeder jedes jene jenem jenen jener jenes jetzt kann
    kein keine keinem keinen keiner keines können könnte machen man manche manchem manchen mancher manches
    mein meine meinem meinen meiner meines mit muss musste nach nicht nichts noch nun nur ob oder ohne sehr
    sein seine seinem seinen seiner seines selbst sich sie ihnen sind so solche solchem solchen solcher solches
    soll sollte sondern sonst über um und uns unse unsem unsen unser unses unter viel vom von vor während war
    waren warst was weg weil weiter welche welchem welchen welcher welches wenn werde werden wie wieder will
    wir wird wirst wo wollen wollte würde würden zu zum zur zwar zwischen
    `,
  en: `
    i me my myself we our ours ourselves you your yours yourself yourselves he him his himself she her hers
    herself it its itself they them their theirs themselves what which who whom this that these those am is are
    was were be been being have has had having do does did doing a an the and but if or because as until while
    of at by for with about against between into through during before after above below to from up down in out
    on off over under again further then once here there when where why how all any both each few more most
    other some such no nor not only own same so than too very s t can will just don should now
    d ll m re ve didn doesn isn wasn weren hasn haven hadn wouldn couldn shouldn aren
    `,
  lb: `
    a all alles als am an är ärem ären ass aus awer bei beim bis d da dach dann dass dat datt de dech dee deem
    deen deenen dei déi déiselwecht dem den der dës dëse dësem dësen dëser där dir do du duerch e ech een eent
    ees eis eise eiser elo em en eng engem enger ënner er esou et fir ginn gi gëtt géif géifen gouf goufen hat hatt
    haten hei hien him hinnen hir hirem hiren hirer hu huet hunn iech ier iwwer ka kann keen kee keng kengem kenger
    kënnen m ma mäi mäin mat mech méi meng mengem menger mer mir muss mussen n nach nees net nëmmen nom no ob och oder
    op s säi säin sech seng sengem senger si sinn schonn scho se soll sollen sou t um virun vum vun war ware
    waren wann wat wéi weider well wëll wëllen wie wien wier wieren wou zu zum zur
    `,
}

/**
 * Function words that the lists above lack, and on which other well-kept lists agree: pronouns,
 * determiners, question words, prepositions, conjunctions, auxiliary verbs, and adverbs that
 * Snowball lists in another of the languages. These lists have no numerals. They also leave out
 * words that have a meaning of their own, even if only the folded form has it: `weer`, `weg`, `net`
 * and `eigen` (nl), `car` and `ça` (fr), `wäre` and `Jahr` (de), `us` and `may` (en), `un` and
 * `sëlwer` (lb).
 */
const ADDED: Record<Language, string> = {
  nl: `
    wij we jij jou jullie jouw onze hen zichzelf mezelf jezelf onszelf welk welke elk elke ieder sommige beide
    beiden zulk zulke wier wiens wanneer waar waarom tussen volgens sinds sedert tijdens binnen buiten vanaf
    vanuit boven achter rond rondom gedurende vanwege wegens omtrent betreffende inzake behalve af toe terwijl
    aangezien hoewel alhoewel nadat voordat zodra totdat tenzij zoals werden zullen zouden zult kunt konden
    moeten moest moesten mogen mag mocht mochten hadden hebt bent gehad daarin daarop hierin erdoor wel
    `,
  fr: `
    les ils elles leurs celui celle ceux celles cela ceci soi quoi cet cette quel quelle quels quelles chaque
    chacun chacune plusieurs quelque quelques tout tous toute toutes autre autres certains certaines tel telle
    tels telles dont lequel laquelle lesquels lesquelles auquel auxquels auxquelles duquel desquels desquelles
    sans chez vers sous entre parmi depuis pendant durant selon lors après avant malgré concernant envers
    jusque jusqu outre auprès sauf hormis via si comme donc ni lorsque puisque quand cependant afin parce
    quoique quant combien comment pourquoi être avoir peut peuvent doit doivent pourrait pouvait plus aussi
    déjà toujours encore très ici alors ainsi
    `,
  de: `
    deren denen wer wen wem wessen unsere unserer niemand niemanden niemandem jemand jemanden jemandem derjenige
    derjenigen diejenige diejenigen beide beiden je seit ab beim wegen neben statt außer gegenüber
    infolgedessen sowie jedoch nachdem entweder wann warum sei seien seid worden geworden gehabt habt hast
    kannst müssen musst mussten sollen sollten konnten wollten dürfen darf dürfte durften mag möchte möchten
    mögen werdet dabei dafür davon darauf darüber darin daran dadurch dagegen danach daraus davor darunter daher
    deshalb deswegen darum mehr schon bereits immer
    `,
  en: `
    would could cannot ought might must someone something everyone everything anyone anything nobody nothing
    none neither either whose another every several many much without within among amongst upon onto toward
    towards across along around beside besides beyond behind except via throughout per since although though
    unless whether whereas however also already always still
    `,
  lb: `
    ze vu u ee di mam hun hin deene senge kéngen jiddereen jiddwereen näischt géint ouni wéinst zanter zënter
    tëschent wärend während nodeems entweder ewéi wéini nëmme kënne sollten wollt wëllt
    `,
}

/** The stop words of a language as the documentation shows them: unfolded, in two parts. */
export const listedStopWords = (language: Language): { base: string[]; added: string[] } => ({
  base: BASE[language].trim().split(/\s+/),
  added: ADDED[language].trim().split(/\s+/),
})

const folded = (language: Language): ReadonlySet<string> =>
  new Set(words(BASE[language] + ADDED[language]))

/** The stop words of each language, folded. */
export const STOP_WORDS: Record<Language, ReadonlySet<string>> = {
  nl: folded('nl'),
  fr: folded('fr'),
  de: folded('de'),
  lb: folded('lb'),
  en: folded('en'),
}

/**
 * Makes the test by which keyword search finds a word in an article of `language`: the word has the
 * stem of a wanted word. Stop words never match, unless all wanted words are stop words (decision
 * 17). Then words match exactly.
 */
export function isFormOf(wanted: string[], language: Language): (word: string) => boolean {
  const stopWords = STOP_WORDS[language]
  const telling = wanted.filter(word => !stopWords.has(word))
  if (telling.length === 0) return word => wanted.includes(word)
  const stems = new Set(telling.map(word => stem(language, word)))
  return word => !stopWords.has(word) && stems.has(stem(language, word))
}

/** The words of an article, two lists as `wordList` writes them (table `article_words`). */
export interface DocumentWords {
  title: string
  body: string
}

export const indexText = (title: string, body: string | null): DocumentWords => ({
  title: wordListOf(title),
  body: wordListOf(body ?? ''),
})

/** The word list of a text. */
export function wordListOf(text: string): string {
  const written = writeWords(text)
  return written === null ? wordList(words(text)) : `${written}\n`
}

/**
 * Makes a word list: words with line breaks before, between and after them. A text contains a
 * phrase if its word list contains the phrase's word list.
 */
export const wordList = (list: string[]): string =>
  list.length === 0 ? '\n' : `\n${list.join('\n')}\n`

/** The words of a word list, in order. */
export const wordsOf = (list: string): string[] => list.split('\n').filter(word => word !== '')

/** The most code units of a text whose words `writeWords` writes. Longer texts take another way. */
const LONGEST_WRITTEN = 1 << 20

/** The output buffer of `writeWords`. The buffer grows with the longest text. */
let written = Buffer.alloc(1 << 14)

/**
 * By code unit: its folded form if this is one character of Latin-1; 0: the code unit separates
 * words; `OTHER`: a word with it is folded as a whole; `UNREAD`: not computed yet.
 */
const FOLDED = new Uint8Array(0x10000).fill(255)
const UNREAD = 255
const OTHER = 254

function foldedUnit(unit: number): number {
  if (unit >= 0xd800 && unit <= 0xdbff) return OTHER
  const character = String.fromCharCode(unit)
  if (kindAt(character, 0) === SEPARATOR) return 0
  const folded = unit < KEPT ? foldWord(character) : ''
  return folded.length === 1 ? Math.min(folded.charCodeAt(0), OTHER) : OTHER
}

/** Matches all characters that NFC may change, and some others. */
const MAY_BE_DECOMPOSED = /[^\0-\u02ff\u2010-\u2026\u20ac]/

/**
 * Writes the words of a text as `words` finds them, each after a line break. `writeWords` makes no
 * string for each word, so a text takes a third of the time.
 *
 * @returns null: the text is very long, or a folded word has characters beyond Latin-1
 */
function writeWords(text: string): string | null {
  const normal = MAY_BE_DECOMPOSED.test(text) ? text.normalize('NFC') : text
  const end = normal.length
  if (end > LONGEST_WRITTEN) return null
  if (written.length < end + 2) written = Buffer.alloc(end * 2)
  const read = codeUnits(normal)
  read[end] = BREAK
  let bytes = written
  let to = 0
  for (let at = 0; at < end; at++) {
    let folded = FOLDED[read[at]!]!
    if (folded === 0) continue
    const start = at
    const from = to
    bytes[to++] = BREAK
    while (folded !== 0 && folded < OTHER) {
      bytes[to++] = folded
      folded = FOLDED[read[++at]!]!
    }
    if (folded === 0) continue
    if (folded === UNREAD) FOLDED[read[at]!] = foldedUnit(read[at]!)
    for (
      let kind = kindAt(normal, at, read[at]);
      kind !== SEPARATOR;
      kind = kindAt(normal, at, read[at])
    )
      at += kind === PAIR ? 2 : 1
    to = writeFolded(normal.slice(start, at), from, end - at)
    if (to < 0) return null
    bytes = written
  }
  return written.toString('latin1', 0, to)
}

/**
 * Writes the folded form of a word over the characters that `writeWords` wrote of that word.
 *
 * @param from where the line break before the word stands
 * @param follows how many code units of the text come after the word
 * @returns where the folded word ends; −1: it has characters beyond Latin-1
 */
function writeFolded(word: string, from: number, follows: number): number {
  const folded = foldWord(word)
  if (folded === '') return from
  const start = from + 1
  const end = start + folded.length
  const room = end + follows + 2
  if (written.length < room) written = Buffer.concat([written.subarray(0, start)], room * 2)
  for (let at = start; at < end; at++) {
    const unit = folded.charCodeAt(at - start)
    if (unit > 0xff) return -1
    written[at] = unit
  }
  return end
}

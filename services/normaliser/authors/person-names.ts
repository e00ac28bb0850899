import { allWords, anyOf } from '#services/normaliser/languages/index'
import { fold, oneLine } from '#services/normaliser/markup/plain'
import agencies from './agencies.json' with { type: 'json' }

/*
 * A byline is a text for readers: names among roles, places, agencies and credits. The code removes
 * parts that are known to be no names. The remaining parts must be written as names are.
 */

/** The most characters of a statement that are read. */
const BYLINE_LIMIT = 500
/** Longest name of a person, in characters and in words. */
const NAME_LIMIT = 60
const NAME_WORDS = 6

/**
 * Labels before the names. The pattern must not match the beginning of a name, as in `von der
 * Leyen, Ursula`. It need not match `Von der Redaktion`, which names no person.
 */
const LABEL_LINK = anyOf(rules => rules.authors.labelLinks)
const OPENING_BY = anyOf(rules => rules.authors.openingByWords)
const LABEL = new RegExp(
  String.raw`^(?:${anyOf(rules => rules.authors.labels)}\s*(?::|[-–—]|\.(?=\s\p{Lu})|\b${LABEL_LINK}(?:(?<=[’'])|(?!\p{L})))|${OPENING_BY}(?=\s|:))\s*:?\s*`,
  'iu',
)

/** A label alone, which names a kind of text: "Opinie | Jan Maes". */
const LABEL_ALONE = new RegExp(`^${anyOf(rules => rules.authors.labels)}$`, 'iu')

/**
 * "De" before a full name whose first name begins with a vowel: "d’Anne Muller". Names of families
 * such as d’Hoker begin with another letter.
 */
const ELIDED =
  /^d[’'](?=(?:[aeiouyàâéèêëîïôûœ]|h(?:enri|él|ug|ubert|erv|ort|adri|onor))\S*\s+(?:\p{Ll}{1,3}\s)*(?-i:\p{Lu}))/iu

/** A label without a colon, before a full name: "Tekst Jan Maes". */
const LABEL_BEFORE_NAME = new RegExp(
  String.raw`^(?i:${anyOf(rules => rules.authors.labels)})\s+(?=\p{Lu}\S*\s+(?:\p{Ll}{2,3}\s+)*\p{Lu})`,
  'u',
)

/**
 * An office before a name: "onze verslaggever Jan Smit", "unser Korrespondent in Brüssel Max
 * Weber".
 */
const OFFICE_BEFORE = new RegExp(
  String.raw`^(?:(?:${anyOf(rules => rules.authors.staffPrefixes)}\s)?${anyOf(rules => rules.authors.staffPossessives)}\s)?(?:\p{L}+\s)?[\p{L}-]*${anyOf(rules => rules.authors.staffRoles)}\p{L}*(?:\s${anyOf(rules => rules.authors.staffPlaces)}\s\p{L}+)?\s+(?=\p{Lu}\S*\s+\p{L})`,
  'u',
)

/** Credits for the picture or the translation. These people did not write the article. */
const CREDIT_LABEL = `${anyOf(rules => rules.authors.credits)}[’'‘]?s?`
const CREDIT = new RegExp(String.raw`(?:^|[\s,;|/–-])${CREDIT_LABEL}\s*:\s*[^,;|/]*`, 'giu')

/** The same credits without a colon, after a comma or with a capital: "Jan Maes Beeld Piet Bos". */
const CREDIT_BEFORE_NAME = new RegExp(
  String.raw`(?:[,;|/–]\s*|(?<=\p{L}\s\p{L}+)\s(?=\p{Lu}))(?i:${CREDIT_LABEL})\s+(?=\p{Lu})[^,;|/]*`,
  'gu',
)

const AND = anyOf(rules => rules.authors.conjunctions)

/** The same credits in brackets after the name: "Piet Jansen (foto’s)". */
const CREDIT_BEHIND_NAME = new RegExp(
  String.raw`(?:^|[,;|/&]|\s${AND}\s)(?:(?!\s${AND}\s)[^,;|/&()])*\(\s*${CREDIT_LABEL}\s*\)`,
  'giu',
)

/** In labels such as "Text und Fotos", the author also took the pictures. */
const TEXT_LABEL = anyOf(rules => rules.authors.textLabels)
const BOTH_LABELS = new RegExp(
  String.raw`\b(?:${TEXT_LABEL}e?\s(?:${AND}|&)\s${CREDIT_LABEL}|${CREDIT_LABEL}\s(?:${AND}|&)\s${TEXT_LABEL}e?)(?=\s*:)`,
  'giu',
)

/** Words for people without names: "and others", "et autres", "e.a.", "u.v.m.". */
const OTHERS =
  /(?:^|\s)(?:(?:and|en|et|und|an)\s)?(?:others?|anderen?|(?:d['’])?autres|andere[rn]?|aner(?:er|en)?|al\.|(?:\p{Ll}\.\s?){1,2}\p{Ll}\.?)$|^al$/u

/** The word before an agency or another person: "Anne Muller avec AFP", "Jan Maes, met Els". */
const WITH = /(?:^|\s)(?:with|met|avec|mit|mat)\s+(?=\S)/iu

/**
 * The people in one statement of a byline, in order and in the outlet's own spelling. Labels,
 * addresses, roles, agencies and desks are left out. `own`: names of the outlet, folded by
 * `foldOutlet`, which are never people.
 */
export function peopleIn(statement: string, own: ReadonlySet<string>): string[] {
  const parted = statement.slice(0, BYLINE_LIMIT * 4).replace(/\s\u200B|\u200B\s/g, ', ')
  const text = bare(oneLine(parted).slice(0, BYLINE_LIMIT))
  const names = parts(text)
    .flatMap(namesAroundWith)
    .map(part => trim(part.replace(OTHERS, '')))
    .filter(name => name !== '')
  // A name that begins with a word in capitals may be a station. If the first name of the list also
  // begins with capitals, such words are surnames: "MAES Jan, PEETERS Els".
  const people = names.filter(
    name => isPerson(name, own) && (!CAPITALS.test(name) || CAPITALS.test(names[0]!)),
  )
  // Beside an office or the outlet's own name, a single word is a place: "hessenschau.de,
  // Frankfurt, Germany".
  const office = isOwn(text, own) || names.some(name => isOffice(name) || isOwn(name, own))
  return office ? people.filter(name => words(name).length > 1) : people
}

/** A station with its place or programme: "ARD Brüssel", "NDR Info". */
const STATION =
  /^(?:ARD|ZDF|NDR|MDR|WDR|SWR|RBB|BR|HR|SR|SRF|ORF|DLF|DW|RTL|RTBF|VRT|NOS|NPO|TF1|BFM|RFI|BBC|CNN)\d?(?!\S)/
/**
 * A name that begins with a word in capitals. In a list that begins with another name, it is a
 * station or a desk.
 */
const CAPITALS = /^\p{Lu}{3,5}\s.*\p{Ll}/u

/**
 * The names around "with": those behind it, too, where a full name or nothing stands before it. An
 * interview "with Jan Maes" names no author.
 */
function namesAroundWith(part: string): string[] {
  const [before = '', ...behind] = part.split(WITH)
  if (behind.length > 0 && behind.every(isNobody)) return [before]
  return before === '' || (words(before).length > 1 && isWrittenAsName(before))
    ? [before, ...behind.filter(name => /^\p{Lu}/u.test(name))]
    : [part]
}

/**
 * Removes e-mail and web addresses, and text in brackets. `jan@x.example (Jan Smit)` becomes Jan
 * Smit.
 */
function bare(text: string): string {
  const rss = /^\s*[^\s@]+@[^\s@]+\s*\((.+)\)\s*$/.exec(text)?.[1] ?? text
  let rest = rss
    .replace(BOTH_LABELS, 'text')
    .replace(CREDIT_BEHIND_NAME, ', ')
    .replace(CREDIT, ' ')
    .replace(CREDIT_BEFORE_NAME, ' ')
    .replace(/<[^<>]*>|\[[^\]]*\]|\([^()]*\)/g, ' ')
    .replace(/[^\s@]+@[^\s@]+\.[^\s@]+|https?:\/\/\S+|(?<=^|\s)@\w+/g, ' ')
    .replace(/\s+/g, ' ')
    .trim()
  // There may be several labels, one before the other: "Text: Von Anna Weber".
  for (let layer = 0; layer < 3; layer += 1)
    rest = rest.replace(LABEL, '').replace(LABEL_BEFORE_NAME, '').trim()
  return rest
    .replace(/^[^:|·•]{1,40}:\s/, '')
    .replace(OFFICE_BEFORE, '')
    .replace(ELIDED, '')
}

const AND_BEFORE_FULL_NAME = anyOf(rules => rules.authors.conjunctionsBeforeFullName)
const BETWEEN_NAMES = new RegExp(
  String.raw`\s*(?:;|\/|\+|\s&\s|\s(?:${AND}|${AND_BEFORE_FULL_NAME}(?=\s\p{Lu}\p{Ll}+\s\p{Lu}))\s|(?<=\p{Lu}{2})\s(?i:${AND})\s(?=\p{Lu}{2}))\s*`,
  'u',
)
const COMMA = new RegExp(String.raw`\s*,\s*(?:(?:${AND}|&)\s)?`)
/** Between fields of a byline; `spacedText` writes a bar for the break of a line. */
const BAR = /\s?[|·•]\s?|\s[–—-]\s/

/** Splits a list into people and roles. A comma may be part of a name ("van den Berg, Jan"). */
function parts(text: string): string[] {
  return besideNames(text.split(BAR)).flatMap(field =>
    field.split(BETWEEN_NAMES).flatMap((group, before) => {
      const pieces = group
        .split(COMMA)
        .filter((piece, at) => piece !== '' && (before + at === 0 || !WORK_AT_END.test(piece)))
      const [first = '', second = ''] = pieces
      return pieces.length === 2 && isSurnameFirst(first, second)
        ? [pieces.join(', ')]
        : besideNames(pieces)
    }),
  )
}

/** Beside full names, a single word is a place or a desk: "Anna Weber, Brussel". */
function besideNames(pieces: string[]): string[] {
  const full = pieces.some(piece => words(piece).length > 1 && !isRole(piece))
  return full ? pieces.filter(piece => words(piece).length > 1) : pieces
}

const SURNAME_PREFIX = new RegExp(
  String.raw`^(?:di|${anyOf(rules => rules.authors.surnamePrefixes)})\s`,
  'i',
)

function isSurnameFirst(first: string, second: string): boolean {
  const particle = SURNAME_PREFIX.test(first)
  return (
    words(second).length === 1 &&
    !isRole(second) &&
    !isAgency(second) &&
    (particle || words(first).length === 1)
  )
}

function words(text: string): string[] {
  return text.split(/\s+/).filter(word => word !== '')
}

/** Texts after a name that are cut off: a place, a date, the links of the box about the author. */
const PLACE = new RegExp(
  String.raw`\s${anyOf(rules => rules.authors.placePrepositions)}\s(?:${anyOf(rules => rules.authors.placeArticles)}\s|l['’])?\p{Lu}.*$`,
  'u',
)
const DATE = new RegExp(
  String.raw`\s(?:${anyOf(rules => rules.authors.datePrepositions)}\s(?:\d|\p{L}+\.?,?\s\d|\p{L}+${anyOf(rules => rules.authors.weekdayEndings)}\b)|\d{1,2}\.?\s?\p{L}|\d{1,2}[./-]\d).*$`,
  'iu',
)
const LINKS = new RegExp(
  String.raw`(?:\s?${anyOf(rules => rules.authors.boxLinks)}|\s${anyOf(rules => rules.authors.boxWords)}).*$`,
  'iu',
)

/** A profession after a full name: "Anna Weber Redakteurin", "Els De Wit is journaliste". */
const WORK = new RegExp(
  String.raw`(?<=\S\s\S+)\s(?:${anyOf(rules => rules.authors.copulas)}\s)?(?:${anyOf(rules => rules.authors.beforeRole)}\s)*${anyOf(rules => rules.authors.work)}.*$`,
  'iu',
)
/** After a comma, a profession with its field: "Foreign Correspondent". */
const WORK_AT_END = new RegExp(String.raw`\s${anyOf(rules => rules.authors.work)}\p{L}*$`, 'iu')

/** A weekday, or what stands before a day: "Sa", "Le", "Op". */
const WEEKDAY = new RegExp(`^${anyOf(rules => rules.dates.weekdays)}$`, 'iu')
const BEFORE_DAY = /^\p{Lu}\p{Ll}\.?$/u

function trim(part: string): string {
  const dated = part.replace(LABEL, '').replace(PLACE, '')
  const undated = dated.replace(DATE, '')
  if (undated !== dated && BEFORE_DAY.test(undated)) return ''
  const name = undated
    .replace(LINKS, '')
    .replace(WORK, '')
    .replace(/^[\s"'„“”«»*.,:_–—-]+|[\s"„“”«»*,:_–—-]+$|(?<=\p{Ll}{3})\s?\.$/gu, '')
  // The alternative text of a picture and the link beside it both contain the name, so it stands
  // twice.
  const half = name.slice(0, (name.length - 1) / 2)
  return half.includes(' ') && name === `${half} ${half}` ? half : name
}

/**
 * Words in lower case inside names. Those of the first line come from other languages whose names
 * appear in our news.
 */
const PARTICLES = new Set([
  ...'del della di da do dos el al bin ibn ben y e af av'.split(' '),
  ...allWords(rules => rules.authors.particles),
])
const BY_WORD = new RegExp(`^(?:${LABEL_LINK}|${OPENING_BY})$`, 'i')

/** Suffixes that tell apart relatives with the same name. */
const SUFFIX = /^(?:jr|sr|jun|sen|fils|père)\.?$/u
/** Titles before a name: "prof. dr. Els De Wit". */
const TITLES = /^(?:\p{L}{1,4}\.-?\s?)+(?=\p{Lu})/u

/**
 * Whether a text is written as a name: every word has a capital or is a particle. A name of two
 * words may be in lower case.
 */
function isWrittenAsName(name: string): boolean {
  const all = words(name.replace(TITLES, ''))
  const small = all.filter(
    (word, at) => /^\p{Ll}/u.test(word) && !(at > 1 && at === all.length - 1 && SUFFIX.test(word)),
  )
  return (
    (small.length === all.length && small.length <= 2) ||
    small.every(
      word => PARTICLES.has(word.replace(/['’].*$/, '')) || /^\p{Ll}{1,2}['’]/u.test(word),
    )
  )
}

function isPerson(name: string, own: ReadonlySet<string>): boolean {
  const count = words(name).length
  if (name.length > NAME_LIMIT || count > NAME_WORDS || !/\p{L}{2}|\p{L}\.\s?\p{L}/u.test(name))
    return false
  if (
    /@|\.(?:com|net|org|de|nl|be|lu|fr|at|ch|eu|info|tv|news|example)$/i.test(name) ||
    /^(?:null|undefined|none|n a|nan|ai)$/.test(fold(name))
  )
    return false
  if ((count > 1 && /\d/.test(name)) || /[!?<>©]/.test(name)) return false
  if (
    BY_WORD.test(name) ||
    LABEL_ALONE.test(name) ||
    WEEKDAY.test(name) ||
    STATION.test(name) ||
    !isWrittenAsName(name)
  )
    return false
  return !isNobody(name) && !isOwn(name, own)
}

const OUTLET_ARTICLE = new RegExp(`^${anyOf(rules => rules.authors.outletArticles)} `)

/**
 * Folds the name of an outlet, without its article: "De Dagkoerier" signs as "Dagkoerier" too.
 */
export const foldOutlet = (name: string): string => fold(name).replace(OUTLET_ARTICLE, '')

/**
 * Whether a name is the outlet's, alone or with a word before or after it: "NOS Nieuws", "FOCUS
 * online".
 */
function isOwn(name: string, own: ReadonlySet<string>): boolean {
  const folded = foldOutlet(name)
  if (own.has(folded) || own.has(folded.replaceAll(' ', ''))) return true
  for (const known of own) {
    if (known.length >= 3 && (folded.startsWith(`${known} `) || folded.endsWith(` ${known}`)))
      return true
  }
  return false
}

/**
 * The patterns below match names of no person. They are compared with folded text (lower case, no
 * accents, only words).
 */

/** News agencies by the whole names that bylines use, as pieces of an expression. */
const AGENCIES = pattern(`^(?:${anyOf(rules => rules.authors.beforeAgency)} )?`, agencies, '$')

/** A name with one of these words is an office, a programme or a caption. */
const OFFICE = pattern(
  String.raw`\b`,
  allWords(rules => rules.authors.offices),
  String.raw`\b`,
)

/**
 * A part of a byline that begins with one of these words is a person's work, a place or a sentence.
 */
const ROLE = pattern(
  `^(?:${anyOf(rules => rules.authors.beforeRole)} )*`,
  allWords(rules => rules.authors.roles),
  String.raw`\b`,
)

export const isAgency = (name: string): boolean => AGENCIES.test(fold(name))

export const isOffice = (name: string): boolean => OFFICE.test(fold(name))

const isRole = (part: string): boolean => ROLE.test(fold(part))

const isNobody = (name: string): boolean => isAgency(name) || isOffice(name) || isRole(name)

function pattern(before: string, alternatives: string[], behind: string): RegExp {
  return new RegExp(`${before}(?:${[...new Set(alternatives)].join('|')})${behind}`)
}

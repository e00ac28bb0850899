import type { ExpressionProblem } from '../../search/browser.ts'

/** The words of the pages. Every other language has the same shape, which the compiler checks. */
export const en = {
  app: {
    tagline: 'News search for the Netherlands, Belgium and Luxembourg',
    skip: 'Skip to the results',
    language: 'Language of this page',
    docs: 'API reference',
    named: (name: string, value: string) => `${name}: ${value}`,
    copy: 'Copy',
    copied: 'Copied.',
    copyFailed: 'This browser does not let the page copy. Select the text instead.',
  },
  key: {
    title: 'A key opens the search',
    about:
      'Perscope searches the news of outlets in the Netherlands, Belgium and Luxembourg: by words, by a boolean query, or by meaning across languages. Everyone may look at this page; searching takes a key.',
    how: 'Whoever runs this service gives out keys. If that is you, this command makes one:',
    started: 'npm start prints an address that opens this page with a key.',
    label: 'Your key',
    hint: 'It begins with psk_. Unless you tick the box it stays in this tab. It is never part of an address.',
    use: 'Open the search',
    remember: 'Remember it on this device',
    forget: 'Forget the key',
    forgotten: 'The key is forgotten.',
    trying: 'Trying the key …',
    offer: 'A link or a field brought another key. It is not used until you say so.',
    useOther: 'Use that key',
    keepOwn: 'Keep mine',
  },
  search: {
    title: 'Search the news',
    label: 'Search for',
    placeholder: {
      keyword: 'brussel metro',
      boolean: 'brussel "metro 3" -staking',
      expression: '(brussel OR bruxelles) NEAR/5 ~metro',
      semantic: 'floods along the Meuse',
    },
    go: 'Search',
    modes: 'How to search',
    mode: { keyword: 'Words', boolean: 'Boolean', expression: 'Expression', semantic: 'Meaning' },
    modeAbout: {
      keyword: 'Any of the words, in all their forms.',
      boolean: 'All of the words as written; "a phrase"; -without.',
      expression: 'Words, "phrases", ~forms, title:, AND, OR, NOT, NEAR/5, parentheses.',
      semantic: 'By meaning, in all five languages.',
    },
  },
  reading: {
    any: 'Read as: any of',
    all: 'Read as: all of',
    not: 'not',
    meaning: 'Read as: the 500 articles closest in meaning, in any language, then your filters.',
    tree: 'Read as:',
    refused: 'This cannot be searched as it stands.',
    problem: {
      nothing: 'Write at least one letter or digit.',
      openQuote: 'A quotation mark is not closed. Write another " after the phrase.',
      onlyExclusions: 'Exclusions alone find nothing. Name at least one word that must appear.',
      short: 'To search by meaning, write at least 2 characters.',
      long: 'Write at most 191 characters.',
    },
    hint: {
      operator: (word: string) => `“${word}” is read as a word. “Expression” has AND, OR and NOT.`,
      wildcard: '* is ignored: there are no wildcards. Search by words finds all forms.',
      quotes: 'Only straight quotation marks (") make a phrase.',
      ignored: 'Quotation marks and a minus count only in a boolean search.',
      useBoolean: 'Search boolean',
      useKeyword: 'Search for any of the words',
    },
  },
  filters: {
    title: 'Filters',
    active: (n: number) => (n === 1 ? '1 filter' : `${n} filters`),
    searchIn: 'Look in',
    inTitle: 'Titles',
    inBoth: 'Titles and texts',
    country: 'Country of the outlet',
    language: 'Language of the article',
    outlet: 'Outlet',
    outletHint: 'Part of its name or domain',
    author: 'Author',
    authorHint: 'Part of a name',
    hasAuthor: 'Named author',
    either: 'With or without',
    withAuthor: 'With',
    withoutAuthor: 'Without',
    dates: 'Published',
    from: 'From',
    to: 'To',
    presets: { today: 'Today', week: '7 days', month: '30 days', year: '12 months' },
    sort: 'Order',
    orders: {
      newest: 'Newest first',
      oldest: 'Oldest first',
      latest: 'Last indexed first',
      earliest: 'First indexed first',
      best: 'Closest first',
    },
    clear: 'Clear filters',
    on: 'Filters that are on',
    remove: (name: string) => `Remove: ${name}`,
    since: (day: string) => `from ${day}`,
    until: (day: string) => `until ${day}`,
    swap: 'Swap the days',
    wrong: {
      dates: 'This day cannot be searched. Choose one between 1900 and 2100.',
      reversed: 'The first day is after the last one.',
      name: 'Write part of a name, with at least one letter or digit.',
      other: 'This choice does not go with the others.',
    },
    suggestions: (n: number) => (n === 1 ? '1 suggestion' : `${n} suggestions`),
  },
  results: {
    title: 'Results',
    searching: 'Searching …',
    total: (n: string, one: boolean) => (one ? '1 article' : `${n} articles`),
    more: (n: string) => `More than ${n} articles`,
    everything: 'All articles',
    none: 'No article matches.',
    tryNext: 'What may help:',
    byMeaning: 'Search by meaning, in all five languages',
    without: (filter: string) => `Without “${filter}”`,
    compact: 'Compact list',
    searchBoth: 'Search titles and texts',
    tryFewer: 'Use fewer or other words, or take away a filter.',
    loadMore: 'Show more',
    end: 'That is all.',
    fresh: (n: string, one: boolean) => (one ? '1 new article' : `${n} new articles`),
    relevance: (percent: string) => `Closeness ${percent}`,
    near: (n: string, one: boolean) =>
      `${one ? '1 article is' : `${n} articles are`} close in meaning. What follows may be about something else.`,
    far: 'None of these is clearly close in meaning. What you look for may still be among them.',
    close: (n: string) => `${n} close in meaning`,
    noDate: 'No date',
    noTitle: 'Without a title',
    places: (n: string, one: boolean, late: boolean) =>
      one
        ? `1 place in the text, in its ${late ? 'second' : 'first'} half`
        : `${n} places in the text, the first in the ${late ? 'second' : 'first'} half`,
    empty: 'There are no articles yet.',
    emptyHow:
      'Whoever runs this service fills it: npm run outlets brings outlets to crawl, npm run import articles of your own.',
    page: 'Page of this article',
    locked: 'This page shows one article. To see it, enter your key.',
    open: 'Open the article',
    noArticle: 'Your plan has no article with this id.',
    takenOut: (day: string) => `This article was taken out on ${day}.`,
    owner: 'The article is the outlet’s. Its title leads there.',
  },
  copies: {
    outlets: (n: string, one: boolean) =>
      one ? 'Shares most of its text with 1 outlet' : `Shares most of its text with ${n} outlets`,
    more: (n: string, one: boolean) =>
      one
        ? '1 more shares most of its text with this one'
        : `${n} more share most of their text with this one`,
    texts: (n: string, one: boolean) => (one ? '1 text' : `${n} texts`),
    once: 'One of each text',
    timeline: 'Texts over time',
    onceAbout:
      'Folded are articles that share most of their text: at least 60 % of the shorter one. They stand below the first of them.',
    shared: 'Shared with the first',
    first: 'the first',
    version: 'an earlier or later version, or a quotation',
    source: 'Named as source',
    headline: 'Headline',
    own: 'Own words',
    languages: (n: string) => `In other languages: at least ${n}`,
    days: (days: number) =>
      days === 0
        ? 'within a day'
        : `${Math.abs(days)} ${Math.abs(days) === 1 ? 'day' : 'days'} ${days < 0 ? 'before' : 'later'}`,
  },
  insights: {
    title: 'Figures',
    timeline: 'Articles over time',
    unit: 'Unit of time',
    units: {
      fitting: (unit: string) => `Fitting (${unit.toLowerCase()})`,
      hour: 'By hour',
      day: 'By day',
      week: 'By week',
      month: 'By month',
      year: 'By year',
    },
    allTime: 'All of the time',
    time: 'Time',
    articles: 'Articles',
    brush: 'A click or a brush over bars narrows the search.',
    asTable: 'These figures as a table',
    summary: (bars: string, unit: string, when: string, most: string) =>
      `Bar chart, ${unit.toLowerCase()}, ${bars} bars. The most: ${most}, ${when}.`,
    undated: (n: string) => `Without a date: ${n}`,
    meaning: (found: string, of: string) =>
      `${found} of ${of} articles can be found by meaning so far.`,
    waiting: 'Pale bars: some of these articles cannot be found by meaning yet.',
    failed: 'The figures did not come.',
    completeness: {
      title: 'We have',
      have: (n: string, of: string, outlet: string) =>
        `we have ${n} of ${of} that ${outlet || 'outlets'} named`,
      once: 'counted by feeds alone',
      unread: (n: string) => `outlets that could not be read: ${n}`,
      striped:
        'Striped: articles of this time were written and are not here. No bar does not mean no news.',
    },
    by: { outlet: 'Outlets', language: 'Languages', country: 'Countries' },
    more: (n: string) => `${n} more`,
    fewer: 'Fewer',
    other: (n: string) => `Other outlets: ${n}`,
  },
  take: {
    open: 'Take it with you',
    download: 'Download',
    downloadAbout: 'All results of this search, page by page, within your plan.',
    pause: 'Pause',
    resume: 'Go on',
    cancel: 'Cancel',
    writtenOf: (n: string, total: string) => `${n} of ${total} articles written`,
    done: (n: string, one: boolean) => (one ? 'Done: 1 article.' : `Done: ${n} articles.`),
    tooLarge:
      'This is more than the browser keeps in memory. Narrow the search, or use Chrome or Edge, which write to a file.',
    feed: 'Follow',
    feedAbout:
      'An address for your feed reader. Whoever knows it reads with your key, so keep it to yourself.',
    feedMeaning:
      'A search by meaning knows the 500 closest articles only. To follow the news, search by words.',
    feedHolds: (n: string) => `It has the ${n} newest articles.`,
    feedFull: (most: string, n: string) =>
      `This search had ${most} articles in one day, and the feed holds ${n}. Have your reader ask several times a day, or narrow the search.`,
    subscribe: 'Make a feed of this search',
    feedMade: 'Copy the address now: it is shown this once.',
    feedAddress: 'Address of the feed',
    feedName: 'Name of the feed',
    feeds: 'Your feeds',
    endFeed: 'End',
    opml: 'All feeds as OPML',
    code: 'Use in a program',
    codeAbout:
      'The same search. The key is read from PERSCOPE_KEY, so what you copy can be shared.',
    cite: 'Cite',
    compare: 'Compare',
  },
  cite: {
    title: 'A cited search',
    about:
      'An address that shows these articles for good, also when the search finds others later.',
    make: 'Make the address',
    none: 'There is no citation at this address.',
    day: (moment: string) => `Cited on ${moment}`,
    idsOnly:
      'It was searched by meaning: the articles are kept, and the search cannot be recomputed.',
    show: 'Show the articles',
    outside: (n: string) => `Outside your plan, or deleted: ${n}`,
    locked: 'To see the articles, enter your key.',
  },
  compare: {
    about: 'Up to four searches on one timeline. Change the search, and add it.',
    add: 'Add this search',
    by: { language: 'One search by language', country: 'One search by country' },
    values: { count: 'Number', share: 'Share of all articles' },
    texts: 'Count each text once',
    all: 'All',
    complete: 'Complete',
    hollow: 'Hollow: less than nine tenths of what outlets named on one of the days is here.',
  },
  alert: {
    title: 'Alert',
    to: 'Mail address, or https://…',
    when: 'When',
    atOnce: 'at once',
    daily: 'every day at',
    set: 'Tell me',
    end: 'End the alert',
    asked: 'We have sent a mail. Follow the link in it.',
    secret: 'Secret of the signatures, shown this once:',
    states: { on: 'on', asked: 'waits for your consent', rests: 'rests' },
  },
  kept: {
    title: 'Kept searches',
    keep: 'Keep this search',
    kept: 'The search is kept.',
    none: 'You keep no search yet. Make a search, then keep it under “Follow”.',
    fresh: (n: string) => `${n} new`,
    rename: 'Rename',
    up: 'Move up',
    remove: 'Remove',
  },
  countries: { NL: 'Netherlands', BE: 'Belgium', LU: 'Luxembourg' },
  languages: { nl: 'Dutch', fr: 'French', de: 'German', lb: 'Luxembourgish', en: 'English' },
  failure: {
    title: {
      offline: 'No answer',
      key: 'This key does not work',
      wait: 'A moment',
      month: 'This month is used up',
      request: 'This search cannot be made',
      plan: 'Your key does not cover this',
      semantic: 'Search by meaning is away',
      server: 'Something went wrong',
    },
    offline:
      'The service cannot be reached. Check your connection; the page tries again when it is back.',
    invalid_token: 'It is unknown, or it was revoked. Ask whoever gave it to you for a new one.',
    too_many_failed_attempts:
      'Too many wrong keys came from your address. Wait, then paste a key that works.',
    rate_limit_exceeded: 'The requests of this minute are used up. The page goes on by itself.',
    quota_exceeded:
      'The requests of this month are used up. A larger plan helps, or the next month.',
    invalid_request: 'Mend what is marked, then search again.',
    country_not_included: 'Your plan does not cover every country that you chose. Take one away.',
    history_not_included: 'Your plan does not reach that far back. Choose a later first day.',
    semantic_search_unavailable: 'Search by words goes on. Try meaning again in half a minute.',
    service_unavailable: 'The database is away. The page tries again by itself.',
    server: 'Try again. If it stays, tell whoever runs the service.',
    expired: 'This list of results is too old to go on. Search again.',
    request: (id: string) => `Request ${id}`,
    again: 'Try again',
    byWords: 'Search by words',
    in: (wait: string) => `Again in ${wait}`,
  },
}

export type Words = typeof en & {
  reading: {
    /**
     * Why an expression cannot be read; N stands for the character. Where a language has no
     * sentence of its own, the page shows that of the API.
     */
    expression?: Partial<Record<ExpressionProblem, string>>
  }
  /** How long ago something was, for a language that browsers do not support. */
  ago?: (n: number, unit: 'minute' | 'hour' | 'day') => string
}

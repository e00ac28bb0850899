import t from 'tap'
import { productToken, type RightsHeaders, ROBOTS_FILE, readRights, rightsHeaders, TDM_FILE } from './rights.ts'

const NOW = new Date('2026-11-25T12:00:00Z')

interface Page {
  headers?: Record<string, string | string[]>
  metas?: Record<string, string[]>
  /** The statements of uses in robots.txt. */
  robots?: string[]
  isLicensed?: boolean
}

function read(stated: Partial<Parameters<typeof readRights>[0]>, tdm = 'refuse') {
  const nothing = { headers: null, metas: new Map(), licences: [], hasUnshown: false, isLicensed: false }
  return readRights({ ...nothing, ...stated }, { agent: 'perscopebot', tdm }, NOW)
}

/** The outcome of a page's signals: `refused`, `snippet 50`, `unkept`, or an empty text. */
function outcomeOf(page: Page, tdm = 'refuse', file: string[] | null = null): string {
  const { headers = {}, metas = {}, robots = [], isLicensed = false } = page
  const kept = { ...rightsHeaders(headers), ...(file === null ? {} : { [TDM_FILE]: file }), [ROBOTS_FILE]: robots }
  const stated = { headers: kept, metas: new Map(Object.entries(metas)), isLicensed }
  const { refusedBy, snippet, mayKeep, wordsAloneBy } = read(stated, tdm)
  return [
    ...(refusedBy === null ? [] : ['refused']),
    ...(snippet === null ? [] : [`snippet ${snippet}`]),
    ...(mayKeep ? [] : ['unkept']),
    ...(wordsAloneBy === null ? [] : ['words alone']),
  ].join(', ')
}

/** The pairs of list and outcome in a table. All lists in one cell have the same outcome. */
const each = (table: [string, string][]) =>
  table.flatMap(([outcome, cell]) => cell.split(' ¦ ').map(one => [one, outcome] as const))

/** The outcome of each list of rules, which may stand in a header or in a meta tag. */
const LISTS: [outcome: string, lists: string][] = [
  ['refused', 'noindex ¦ none ¦ NoIndex, NoFollow'],
  ['', 'index, follow ¦ all ¦  ¦ nofollow, noimageindex, notranslate'],
  // Rules that publishing software writes on every page.
  ['', 'index, follow, max-snippet:-1, max-image-preview:large, max-video-preview:-1 ¦ noai, noimageai'],
  ['snippet 0', 'nosnippet ¦ max-snippet:0 ¦ nosnippet, max-snippet:50'],
  ['snippet 50', 'max-snippet:50 ¦ max-snippet: 50 , max-image-preview:none'],
  ['snippet 20', 'max-snippet:50, max-snippet:20'],
  ['unkept', 'noarchive'],
  ['refused, snippet 0, unkept', 'noindex, noarchive, nosnippet'],
  // Dates: in the past, in the future, by each standard, with a comma.
  ['refused', 'unavailable_after: 25 Jun 2010 15:00:00 PST ¦ unavailable_after: Wed, 25 Nov 2026 11:59:59 GMT'],
  ['refused', 'unavailable_after: Sunday, 06-Nov-94 08:49:37 GMT ¦ unavailable_after: Fri Jun 25 2010 15:00:00 GMT'],
  ['refused', 'unavailable_after: 2026-11-25 ¦ unavailable_after: 2026-11-25T12:30:00+01:00'],
  ['refused', 'unavailable_after: 25 Nov 2026 12:30:00 CET ¦ unavailable_after: 2030-01-01, noindex'],
  ['refused, snippet 0', 'unavailable_after: 25-Aug-2007 15:00:00 EST, nosnippet'],
  ['', 'unavailable_after: Wed, 25 Nov 2026 12:00:01 GMT ¦ unavailable_after: 2026-11-26'],
  ['', 'unavailable_after: 2026-11-25T12:30:00'],
  ['refused, unkept', 'unavailable_after: Nov 24, 2026, noarchive'],
  // Broken rules have no effect, and do not disturb the rules beside them.
  ['snippet 0', 'unavailable_after: never, nosnippet'],
  ['', 'unavailable_after: 0 ¦ unavailable_after: ¦ unavailable_after ¦ unavailable_after: 2026-13-45 ¦ max-snippet'],
  ['', 'max-snippet: ¦ max-snippet:-5 ¦ max-snippet:ten ¦ max-snippet:12.5 ¦ max-snippet=0 ¦ noindexing ¦ no-index'],
  ['', 'donotnoindex ¦ ,,;, ,'],
  // Blanks and semicolons where commas should be.
  ['refused', 'noindex nofollow ¦ nofollow;noindex'],
  ['snippet 0', 'follow nosnippet'],
]

t.test('a list of rules means the same in a header, in the meta tag for robots and in our own', async t => {
  for (const [list, outcome] of each(LISTS)) {
    t.equal(outcomeOf({ headers: { 'X-Robots-Tag': list } }), outcome, `header ${list}`)
    t.equal(outcomeOf({ metas: { robots: [list] } }), outcome, `robots ${list}`)
    t.equal(outcomeOf({ metas: { perscopebot: [list] } }), outcome, `perscopebot ${list}`)
  }
})

t.test('rules for another agent are not ours', async t => {
  const others: [outcome: string, lists: string][] = [
    ['', 'googlebot: noindex, nosnippet ¦ otherbot: unavailable_after: 25 Jun 2010 15:00:00 PST ¦ 360Spider: noindex'],
    ['', 'Google Bot: noindex ¦ googlebot|bingbot: noindex'],
    ['', 'Googlebot/2.1 (+http://www.google.com/bot.html): noindex ¦ unavailable_after: 01-Jan-70 00:00:00 GMT'],
    ['', 'perscopebot-news: noindex'],
    ['snippet 0', 'nosnippet, otherbot: noindex ¦ otherbot: noindex, perscopebot: nosnippet'],
    ['refused', 'PerscopeBot/1.0 (+https://perscope.example): noindex ¦ max-image-preview:large noindex'],
    ['refused', 'PerscopeBot: noindex ¦ PerscopeBot/1.0: noindex ¦ *: noindex'],
    ['refused', 'perscopebot: unavailable_after: 25 Jun 2010 15:00:00 PST'],
    ['refused, snippet 20', 'noindex max-snippet:20 ¦ max-snippet:20 noindex'],
    ['snippet 20, unkept', 'perscopebot: max-snippet: 20, noarchive'],
  ]
  for (const [list, outcome] of each(others)) t.equal(outcomeOf({ headers: { 'x-robots-tag': list } }), outcome, list)
  for (const name of ['googlebot', 'bingbot', 'description', 'robotsx', 'perscope'])
    t.equal(outcomeOf({ metas: { [name]: ['noindex'] } }), '', name)
})

t.test('each header is a list of its own: the name of an agent ends with it', async t => {
  t.equal(outcomeOf({ headers: { 'x-robots-tag': ['otherbot: noindex', 'nosnippet'] } }), 'snippet 0')
  t.equal(outcomeOf({ headers: { 'x-robots-tag': 'otherbot: noindex, nosnippet' } }), '')
})

t.test('of several signals the strictest holds, wherever they stand', async t => {
  const both = (list: string, meta: string) =>
    outcomeOf({ headers: { 'x-robots-tag': list }, metas: { robots: [meta] } })
  t.equal(both('index', 'noindex'), 'refused')
  t.equal(both('noindex', 'index, all'), 'refused')
  t.equal(both('max-snippet:100', 'max-snippet:40'), 'snippet 40')
  t.equal(both('max-snippet:40', 'max-snippet:-1'), 'snippet 40')
  t.equal(outcomeOf({ metas: { robots: ['index', 'noindex'] } }), 'refused')
  t.equal(outcomeOf({ metas: { robots: ['noindex'], perscopebot: ['index'] } }), 'refused')
})

t.test('what was seen is told with its source, each once', async t => {
  const headers: RightsHeaders = { 'x-robots-tag': ['noindex, NOINDEX', 'max-snippet:50', 'nofollow'] }
  const metas = new Map([['robots', ['noindex, unavailable_after: 2030-01-01']]])
  const rights = read({ headers, metas, hasUnshown: true })
  t.same(rights.refusedBy, { signal: 'noindex', source: 'header' })
  t.same(rights.seen, [
    { signal: 'noindex', source: 'header' },
    { signal: 'max-snippet:50', source: 'header' },
    { signal: 'noindex', source: 'meta' },
    { signal: 'unavailable_after:2030-01-01T00:00:00.000Z', source: 'meta' },
    { signal: 'data-nosnippet', source: 'element' },
  ])
})

t.test('only headers that state rights are kept with a page, and not without bounds', async t => {
  t.equal(rightsHeaders({ 'content-type': 'text/html', robots: 'noindex' }), null)
  t.same(rightsHeaders({ 'X-Robots-Tag': ['a', 'b'], 'TDM-Reservation': '1' }), {
    'x-robots-tag': ['a', 'b'],
    'tdm-reservation': ['1'],
  })
  const many = rightsHeaders({ 'x-robots-tag': Array.from({ length: 1_000 }, () => 'x'.repeat(10_000)) })
  t.ok(JSON.stringify(many).length < 25_000)
})

t.test('the name by which outlets call us is that of the user agent', async t => {
  t.equal(productToken('PerscopeBot/1.0 (+https://perscope.example/bot)'), 'perscopebot')
  t.equal(productToken('  NewsBot'), 'newsbot')
  t.equal(productToken('Mozilla/5.0 (compatible; NewsBot/1.0; +https://x.example)'), 'newsbot')
})

t.test('a reservation of TDM is refused, indexed for words alone, or ignored, as the operator says', async t => {
  for (const page of [{ headers: { 'TDM-Reservation': '1' } }, { metas: { 'tdm-reservation': ['1'] } }]) {
    t.equal(outcomeOf(page), 'refused')
    t.equal(outcomeOf(page, 'index-only'), 'words alone')
    t.equal(outcomeOf(page, 'ignore'), '')
    t.equal(outcomeOf({ ...page, isLicensed: true }), '', 'a licence outweighs it')
    t.equal(outcomeOf({ ...page, isLicensed: true }, 'index-only'), '')
  }
  t.equal(outcomeOf({ headers: { 'x-robots-tag': 'noindex' }, isLicensed: true }), 'refused', 'but not other signals')
  t.equal(outcomeOf({}, 'refuse', ['1', 'https://x.example/policy']), 'refused')
})

t.test('of file, header and page the later one wins, and silence changes nothing', async t => {
  const said = (file: string | null, header: string | null, meta: string | null) =>
    outcomeOf(
      {
        headers: header === null ? {} : { 'tdm-reservation': header },
        metas: meta === null ? {} : { 'tdm-reservation': [meta] },
      },
      'refuse',
      file === null ? null : [file],
    )
  const cases: [file: string | null, header: string | null, meta: string | null, reserved: boolean][] = [
    ['1', null, null, true],
    ['1', '0', null, false],
    ['1', null, '0', false],
    ['0', '1', null, true],
    ['0', '1', '0', false],
    [null, '1', '0', false],
    [null, '0', '1', true],
    ['1', '0', '1', true],
    // Values that break the protocol count as missing. They do not take back earlier statements.
    ['1', 'no', null, true],
    ['1', '', ' ', true],
    [null, 'true', null, false],
    [null, '2', 'yes', false],
    [null, ' 1 ', null, true],
    [null, null, null, false],
  ]
  for (const [file, header, meta, reserved] of cases)
    t.equal(said(file, header, meta), reserved ? 'refused' : '', `${file}, ${header}, ${meta}`)
  t.equal(outcomeOf({ headers: { 'tdm-reservation': ['0', '1'] } }), 'refused', 'two headers: the strictest')
  t.equal(outcomeOf({ headers: { 'tdm-reservation': '1, 1' } }), 'refused', 'two that a proxy has joined')
  t.equal(outcomeOf({ headers: { 'tdm-policy': 'https://x.example/p' } }), '', 'a policy alone reserves nothing')
  t.equal(outcomeOf({ metas: { 'tdm:reservation': ['1'] } }), '', 'the name is that of another format')
})

t.test('uses that an outlet does not allow, in robots.txt or a header: the strictest statement holds', async t => {
  const uses: [outcome: string, statements: string][] = [
    ['refused', 'search=n ¦ search=no ¦ search=n;exceptions=x ¦ nonsense, search=n'],
    ['words alone', 'ai-input=no ¦ train-ai=y, ai-use=n'],
    ['refused, words alone', 'search=n, ai-input=n'],
    ['', 'search=yes,ai-train=no ¦ search=yes,ai-train=no,use=reference ¦ train-ai=n ¦ search=y, ai-input=y ¦ search'],
    ['', 'search=0 ¦ search=never ¦ search=N ¦ search:n ¦ research=n ¦ constructor=n ¦ '],
  ]
  const headers = (...lists: string[]) => ({ 'Content-Usage': lists })
  for (const [statement, outcome] of each(uses)) {
    t.equal(outcomeOf({ headers: headers(statement) }), outcome, statement)
    t.equal(outcomeOf({ robots: [statement] }), outcome, `robots.txt: ${statement}`)
    t.equal(outcomeOf({ robots: [statement] }, 'index-only'), outcome)
    t.equal(outcomeOf({ robots: [statement] }, 'ignore'), '')
    t.equal(outcomeOf({ robots: [statement], isLicensed: true }), '')
  }
  t.equal(outcomeOf({ headers: headers('search=y'), robots: ['search=n'] }), 'refused')
  t.equal(outcomeOf({ headers: headers('search=y', 'search=n') }), 'refused')
  t.equal(outcomeOf({ metas: { 'content-usage': ['search=n'] } }), '', 'no place of the specification')
  const robots = { [ROBOTS_FILE]: ['ai-train=no', 'https://x.example/l.xml'] }
  t.same(read({ headers: robots, licences: ['/licence'] }).seen, [
    { signal: 'train-ai=n', source: ROBOTS_FILE },
    { signal: 'licence:https://x.example/l.xml', source: ROBOTS_FILE },
    { signal: 'licence:/licence', source: 'link' },
  ])
})

t.test('a reservation is told with its policy, and one that was taken back as well', async t => {
  const headers = { [TDM_FILE]: ['0'], 'tdm-reservation': ['1'], 'tdm-policy': ['https://x.example/p'] }
  t.same(read({ headers }).seen, [
    { signal: 'tdm-reservation:0', source: TDM_FILE },
    { signal: 'tdm-reservation:1', source: 'header' },
    { signal: 'tdm-policy:https://x.example/p', source: 'header' },
  ])
})

t.test('noai and noimageai bind nobody yet: they are told to the operator', async t => {
  const { seen } = read({ metas: new Map([['robots', ['noai, noimageai, nofollow']]]) })
  t.same(seen, [
    { signal: 'noai', source: 'meta' },
    { signal: 'noimageai', source: 'meta' },
  ])
})

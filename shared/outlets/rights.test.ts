import t from 'tap'
import TABLES from './rights.json' with { type: 'json' }
import {
  linksOf,
  NO_RIGHTS_STATED,
  nameOf,
  productToken,
  type RightsHeaders,
  ROBOTS_FILE,
  readRights,
  rightsHeaders,
  TDM_FILE,
  withFiles,
} from './rights.ts'
import { type Stop, stopsInWords } from './stopped-pages.ts'

const NOW = new Date('2026-11-25T12:00:00Z')

interface Page {
  headers?: Record<string, string | string[]>
  metas?: Record<string, string[]>
  /** The statements of uses in robots.txt. */
  robots?: string[]
  isLicensed?: boolean
}

function read(stated: Partial<Parameters<typeof readRights>[0]>, tdm = 'refuse') {
  const nothing = {
    headers: null,
    metas: new Map(),
    licences: [],
    hasUnshown: false,
    isLicensed: false,
  }
  return readRights({ ...nothing, ...stated }, { agent: 'perscopebot', tdm }, NOW)
}

/** The outcome of a page's signals: `refused`, `snippet 50`, `unkept`, or an empty text. */
function outcomeOf(page: Page, tdm = 'refuse', file: string[] | null = null): string {
  const { headers = {}, metas = {}, robots = [], isLicensed = false } = page
  const kept = {
    ...rightsHeaders(headers),
    ...(file === null ? {} : { [TDM_FILE]: file }),
    [ROBOTS_FILE]: robots,
  }
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
const each = (table: string[][]) =>
  table.flatMap(([outcome = '', cell = '']) =>
    cell.split(' ¦ ').map(one => [one, outcome] as const),
  )

t.test(
  'a list of rules means the same in a header, in the meta tag for robots and in our own',
  async t => {
    for (const [list, outcome] of each(TABLES.lists)) {
      t.equal(outcomeOf({ headers: { 'X-Robots-Tag': list } }), outcome, `header ${list}`)
      t.equal(outcomeOf({ metas: { robots: [list] } }), outcome, `robots ${list}`)
      t.equal(outcomeOf({ metas: { perscopebot: [list] } }), outcome, `perscopebot ${list}`)
    }
  },
)

t.test('rules for another agent are not ours', async t => {
  for (const [list, outcome] of each(TABLES.addressed))
    t.equal(outcomeOf({ headers: { 'x-robots-tag': list } }), outcome, list)
  for (const name of ['googlebot', 'bingbot', 'description', 'robotsx', 'perscope'])
    t.equal(outcomeOf({ metas: { [name]: ['noindex'] } }), '', name)
})

t.test('each header is a list of its own: the name of an agent ends with it', async t => {
  t.equal(
    outcomeOf({ headers: { 'x-robots-tag': ['otherbot: noindex', 'nosnippet'] } }),
    'snippet 0',
  )
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
  const headers: RightsHeaders = {
    'x-robots-tag': ['noindex, NOINDEX', 'max-snippet:50', 'nofollow'],
  }
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
  t.equal(
    rightsHeaders({
      'content-type': 'text/html',
      robots: 'noindex',
      link: '</f>; rel="alternate"',
    }),
    null,
  )
  t.same(rightsHeaders({ 'X-Robots-Tag': ['a', 'b'], 'TDM-Reservation': '1' }), {
    'x-robots-tag': ['a', 'b'],
    'tdm-reservation': ['1'],
  })
  const many = rightsHeaders({
    'x-robots-tag': Array.from({ length: 1_000 }, () => 'x'.repeat(10_000)),
  })
  t.ok(JSON.stringify(many).length < 25_000)
  t.equal(read({ licences: Array.from({ length: 50 }, (_, at) => `/${at}`) }).seen.length, 20)
})

t.test('what files of the host state is kept beside the headers', async t => {
  const headers = { 'tdm-reservation': ['0'] }
  t.same(withFiles(headers, { reservation: '1', policy: null }, []), {
    ...headers,
    [TDM_FILE]: ['1'],
  })
  t.same(withFiles(null, { reservation: '1', policy: '/p' }, []), { [TDM_FILE]: ['1', '/p'] })
  t.same(withFiles(null, null, ['search=n']), { [ROBOTS_FILE]: ['search=n'] })
  t.same([withFiles(headers, null, []), withFiles(null, null, [])], [headers, null])
  t.same(read({}), NO_RIGHTS_STATED)
})

t.test('the name by which outlets call us is that of the user agent', async t => {
  t.equal(productToken('PerscopeBot/1.0 (+https://perscope.example/bot)'), 'perscopebot')
  t.equal(productToken('  NewsBot'), 'newsbot')
  t.equal(productToken('Mozilla/5.0 (compatible; NewsBot/1.0; +https://x.example)'), 'newsbot')
})

t.test(
  'a reservation of TDM is refused, indexed for words alone, or ignored, as the operator says',
  async t => {
    for (const page of [
      { headers: { 'TDM-Reservation': '1' } },
      { metas: { 'tdm-reservation': ['1'] } },
    ]) {
      t.equal(outcomeOf(page), 'refused')
      t.equal(outcomeOf(page, 'index-only'), 'words alone')
      t.equal(outcomeOf(page, 'ignore'), '')
      t.equal(outcomeOf({ ...page, isLicensed: true }), '', 'a licence outweighs it')
      t.equal(outcomeOf({ ...page, isLicensed: true }, 'index-only'), '')
    }
    t.equal(
      outcomeOf({ headers: { 'x-robots-tag': 'noindex' }, isLicensed: true }),
      'refused',
      'but not other signals',
    )
    t.equal(outcomeOf({}, 'refuse', ['1', 'https://x.example/policy']), 'refused')
  },
)

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
  for (const [file, header, meta, reserved] of TABLES.places as [
    string | null,
    string | null,
    string | null,
    boolean,
  ][])
    t.equal(said(file, header, meta), reserved ? 'refused' : '', `${file}, ${header}, ${meta}`)
  t.equal(
    outcomeOf({ headers: { 'tdm-reservation': ['0', '1'] } }),
    'refused',
    'two headers: the strictest',
  )
  t.equal(
    outcomeOf({ headers: { 'tdm-reservation': '1, 1' } }),
    'refused',
    'two that a proxy has joined',
  )
  t.equal(
    outcomeOf({ headers: { 'tdm-policy': 'https://x.example/p' } }),
    '',
    'a policy alone reserves nothing',
  )
  t.equal(
    outcomeOf({ metas: { 'tdm:reservation': ['1'] } }),
    '',
    'the name is that of another format',
  )
})

t.test(
  'uses that an outlet does not allow, in robots.txt or a header: the strictest statement holds',
  async t => {
    const headers = (...lists: string[]) => ({ 'Content-Usage': lists })
    for (const [statement, outcome] of each(TABLES.uses)) {
      t.equal(outcomeOf({ headers: headers(statement) }), outcome, statement)
      t.equal(outcomeOf({ robots: [statement] }), outcome, `robots.txt: ${statement}`)
      t.equal(outcomeOf({ robots: [statement] }, 'index-only'), outcome)
      t.equal(outcomeOf({ robots: [statement] }, 'ignore'), '')
      t.equal(outcomeOf({ robots: [statement], isLicensed: true }), '')
    }
    t.equal(outcomeOf({ headers: headers('search=y'), robots: ['search=n'] }), 'refused')
    t.equal(outcomeOf({ headers: headers('search=y', 'search=n') }), 'refused')
    t.equal(
      outcomeOf({ metas: { 'content-usage': ['search=n'] } }),
      '',
      'no place of the specification',
    )
    const link = '</s.css>; rel=preload, </l>; title="a, b"; rel="license x", </a/1>; rel=canonical'
    const robots = {
      ...rightsHeaders({ Link: link }),
      [ROBOTS_FILE]: ['ai-train=no', 'https://x.example/l.xml'],
    }
    t.same(linksOf(robots, 'canonical'), ['/a/1'])
    t.same(read({ headers: robots, licences: ['/licence'] }).seen, [
      { signal: 'train-ai=n', source: ROBOTS_FILE },
      { signal: 'licence:https://x.example/l.xml', source: ROBOTS_FILE },
      { signal: 'licence:/l', source: 'header' },
      { signal: 'licence:/licence', source: 'link' },
    ])
  },
)

t.test('a reservation is told with its policy, and one that was taken back as well', async t => {
  const headers = {
    [TDM_FILE]: ['0'],
    'tdm-reservation': ['1'],
    'tdm-policy': ['https://x.example/p'],
  }
  t.same(read({ headers }).seen, [
    { signal: 'tdm-reservation:0', source: TDM_FILE },
    { signal: 'tdm-reservation:1', source: 'header' },
    { signal: 'tdm-policy:https://x.example/p', source: 'header' },
  ])
  t.equal(
    read({ headers: { ...headers, 'tdm-reservation': ['0'] } }).seen.length,
    2,
    'a policy of what is not reserved',
  )
  t.equal(read({ headers: { 'tdm-reservation': ['1'] } }).seen.length, 1)
  t.same(['tdm-reservation:1', 'noindex', 'licence:/l'].map(nameOf), [
    'tdm-reservation:1',
    'noindex',
    'licence',
  ])
})

t.test('noai and noimageai bind nobody yet: they are told to the operator', async t => {
  const { seen } = read({ metas: new Map([['robots', ['noai, noimageai, nofollow']]]) })
  t.same(seen, [
    { signal: 'noai', source: 'meta' },
    { signal: 'noimageai', source: 'meta' },
  ])
})

t.test('what a value of RIGHTS_TDM stops is said with the outlets', async t => {
  const said = (stops: Stop[]) => stopsInWords(stops, { RIGHTS_TDM: 'refuse' })
  const stop = (
    domain: string,
    refused: number,
    wordsAlone = 0,
    ignore = { refused: 0, wordsAlone: 0 },
  ): Stop => {
    return {
      domain,
      licence: null,
      signal: 'x',
      stops: { ignore, refuse: { refused, wordsAlone } },
    }
  }
  const robots = [
    stop('a', 1, 1, { refused: 1, wordsAlone: 0 }),
    stop('a', 1, 1, { refused: 0, wordsAlone: 1 }),
  ]
  const unknown = { ...stop('z', 0), stops: { ignore: { refused: 0, wordsAlone: 0 } } }
  t.equal(said([...robots, stop('a', 0), unknown]), null)
  t.match(
    said([...robots, stop('a', 0), unknown, stop('b', 1)]),
    / stops 1 article and .* of 0, of 1 outlet: b; /,
  )
  const five = ['a', 'b', 'c', 'd', 'e', 'a'].map(domain => stop(domain, 0, 1))
  t.match(said(five), / stops 0 articles and .* of 6, of 5 outlets: a, b, c, d, e; /)
  t.match(
    said([...five, stop('f', 2)]),
    / stops 2 articles and .* of 6, of 6 outlets: a, b, c, d, e, …; /,
  )
})

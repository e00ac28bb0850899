import t from 'tap'
import { readQuery } from './reading.ts'
import {
  addressOf,
  isSame,
  NEW_SEARCH,
  operationOf,
  questionOf,
  readSearch,
  writeSearch,
} from './search.ts'

const read = (address: string) => readSearch(new URL(address, 'http://x').searchParams)

t.test('an address and its search are the same', async t => {
  for (const address of [
    '/',
    '/?q=brussel+metro&search_in=title_body',
    '/?q=brug&search=boolean&search_in=title&country=NL,BE&language=fr&has_author=false&outlet=de+krant&author=ann&sort=ingested_at&order=asc',
    '/?q=water&search=semantic&sort=relevance',
    '/?q=hoog+water&search=semantic&published_after=2026-11-01&published_before=2026-11-20T22:59:59.999Z',
  ]) {
    t.equal(addressOf(read(address)), address)
  }
  t.same(read('/'), NEW_SEARCH)
  t.equal(
    addressOf(read('/?q=x&sort=relevance')),
    '/?q=x&search_in=title_body',
    'of a search by meaning alone',
  )
  t.equal(addressOf(read('/?outlets=Pers,nrc.nl')), '/?outlets=nrc.nl,pers', 'as it is kept')
  t.equal(questionOf(read('/?q=x&sort=ingested_at&order=asc')), questionOf(read('/?q=x')))
  const others = [
    NEW_SEARCH,
    { ...NEW_SEARCH, q: ' ' },
    { ...NEW_SEARCH, mode: 'expression' as const },
    read('/?outlets=a.nl'),
    ...['section=Sport', 'kind=news', 'access=free'].map(stated => read(`/?${stated}`)),
  ]
  t.same(
    others.map(other => isSame(NEW_SEARCH, other)),
    [true, true, false, false, false, false, false],
  )
  t.same(
    others.map(operationOf).map(path => path.startsWith('/explore')),
    [false, false, true, true, true, true, true],
  )
})

t.test('a fresh page, a reload and a shared link look in the same place', async t => {
  for (const search of [
    NEW_SEARCH,
    { ...NEW_SEARCH, countries: ['NL' as const] },
    { ...NEW_SEARCH, q: 'brug' },
  ]) {
    t.equal(read(addressOf(search)).searchIn, 'title_body', addressOf(search))
    const titles = { ...search, searchIn: 'title' as const }
    t.equal(read(addressOf(titles)).searchIn, 'title', addressOf(titles))
  }
  t.equal(read('/?q=brug').searchIn, 'title_body', 'an address that somebody typed')
})

t.test('what an address holds besides is left out', async t => {
  const search = read('/?q=x&search=magic&country=XX,NL&key=psk_secret&has_author=maybe&cursor=abc')
  t.equal(addressOf(search), '/?q=x&search_in=title_body&country=NL')
  for (const inherited of ['constructor', '__proto__', 'toString']) {
    t.same(
      read(`/?has_author=${inherited}&search=${inherited}&sort=${inherited}`).hasAuthor,
      null,
      inherited,
    )
  }
  t.equal(
    writeSearch({ ...NEW_SEARCH, q: 'x', mode: 'semantic' }).has('search_in'),
    false,
    'refused there',
  )
})

t.test('a query is shown as the engine reads it', async t => {
  t.strictSame(readQuery({ q: 'Brussel, métro!', mode: 'keyword' }), {
    kind: 'any',
    excluded: [],
    wanted: ['brussel', 'metro'],
    hints: [],
  })
  t.strictSame(readQuery({ q: 'brussel "de metro" -staking', mode: 'boolean' }), {
    kind: 'all',
    wanted: ['brussel', '“de metro”'],
    excluded: ['staking'],
    hints: [],
  })
  t.same(readQuery({ q: '  ', mode: 'keyword' }), { kind: 'everything' })
})

t.test('what cannot be read is said before anything is sent', async t => {
  for (const [q, mode, problem] of [
    ['!?', 'keyword', 'nothing'],
    ['"brussel', 'boolean', 'openQuote'],
    ['-brussel', 'boolean', 'onlyExclusions'],
    ['a', 'semantic', 'short'],
    ['', 'semantic', 'short'],
    ['😀😀', 'semantic', 'nothing'],
    ['a'.repeat(192), 'keyword', 'long'],
  ] as const) {
    t.same(readQuery({ q, mode }), { kind: 'problem', problem }, q)
  }
  const tree = { kind: 'tree', text: 'a AND b' }
  t.same(readQuery({ q: 'a  AND b', mode: 'expression' }), { ...tree, meant: null })
  t.match(readQuery({ q: 'a of b', mode: 'expression' }), { meant: 'a OR b' })
  t.match(readQuery({ q: 'a AND (', mode: 'expression' }), {
    kind: 'misread',
    misread: { problem: 'open', at: 7 },
    q: 'a AND (',
  })
  t.equal(
    readQuery({ q: '😀'.repeat(95) + 'a'.repeat(96), mode: 'keyword' }).kind,
    'any',
    'code points are counted',
  )
})

t.test('what looks like an operator and is none is named', async t => {
  const hintsOf = (q: string, mode: 'keyword' | 'boolean') => {
    const reading = readQuery({ q, mode })
    return 'hints' in reading
      ? reading.hints.map(hint => ('word' in hint ? hint.word : hint.kind))
      : []
  }
  t.strictSame(hintsOf('brussel or gent', 'boolean'), ['or'])
  t.strictSame(hintsOf('brussel OR gent', 'boolean'), ['OR'])
  t.strictSame(hintsOf('brussel AND gent', 'keyword'), ['AND'])
  t.strictSame(hintsOf('brussel of gent', 'boolean'), [], 'a word of the language')
  t.strictSame(hintsOf('brussel OF gent', 'boolean'), ['OF'])
  t.strictSame(hintsOf('"to be or not"', 'boolean'), [], 'within a phrase')
  t.strictSame(hintsOf('or', 'boolean'), [])
  t.strictSame(hintsOf('brussel w/5 gent', 'keyword'), ['w/5'])
  t.strictSame(hintsOf('metro*', 'keyword'), ['wildcard'])
  t.strictSame(hintsOf('“de metro”', 'boolean'), ['quotes'])
  t.strictSame(hintsOf('"de metro" -staking', 'keyword'), ['ignored'])
})

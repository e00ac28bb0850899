import { Readable } from 'node:stream'
import t from 'tap'
import { badInWords, type Group, readGroups } from './groups.ts'
import { openArticleReader } from './reader.ts'

const line = (number: number) =>
  JSON.stringify({
    url: `https://dagkoerier.example/${number}`,
    title: `Titel ${number}`,
    body: '<p>Eén.</p><p>Twee.</p>',
    outlet: { domain: 'dagkoerier.example' },
    language: 'nl',
    country: 'NL',
    published_at: '2024-02-29',
  })

async function readAll(text: string, prepare: boolean): Promise<Group[]> {
  const reader = openArticleReader({ prepare })
  t.teardown(() => reader.close())
  const groups: Group[] = []
  for await (const group of readGroups(Readable.from([Buffer.from(text)]), reader))
    groups.push(group)
  return groups
}

t.test('threads read articles in groups, and everything stays in its order', async t => {
  const bad = new Set([1, 400, 401, 1_999])
  const text = Array.from({ length: 2_000 }, (_, at) =>
    bad.has(at + 1) ? '{' : line(at + 1),
  ).join('\n')
  const groups = await readAll(text, true)
  t.same(
    groups.flatMap(group => group.articles.map(article => article.title)),
    Array.from({ length: 2_000 }, (_, at) => at + 1).flatMap(number =>
      bad.has(number) ? [] : [`Titel ${number}`],
    ),
  )
  const badLines = groups.flatMap(group => group.bad.map(one => one.number))
  t.same(badLines, [...bad])
  t.ok(groups.length > 3)
  t.equal(groups.at(-1)?.end, Buffer.byteLength(text))
  const article = groups[0]!.articles[0]!
  t.match(article, {
    publishedAt: new Date('2024-02-29'),
    prepared: { units: 'Titel 2Eén.\n\nTwee.'.length },
  })
})

t.test('texts have the limits of pages, and names are bounded by line', async t => {
  const marks = '\u0301'.repeat(80_000)
  const bounded = {
    title: `a${marks} woord`,
    body: `b${marks} ${'woord '.repeat(400_000)}`,
    plain: true,
  }
  const lines = [
    { ...bounded, authors: [`a${marks}`] },
    { authors: Array(101).fill('Jan') },
    { authors: ['x'.repeat(301)] },
    { outlet: { name: 'x'.repeat(301) } },
  ]
  const text = lines
    .map((fields, at) => JSON.stringify({ ...JSON.parse(line(at)), ...fields }))
    .join('\n')
  const [group] = await readAll(text, true)
  const { prepared } = group!.articles[0]!
  t.same(group!.articles[0]!.authors, [`a${'\u0301'.repeat(30)}`])
  t.equal(Buffer.from(prepared!.title).toString(), `a${'\u0301'.repeat(30)} woord`)
  t.match(Buffer.from(prepared!.body!).toString(), /^b\u0301{30} woord [\s\S]*woord$/)
  t.ok(prepared!.units <= 2_000_506, `${prepared!.units} units`)
  t.same(group!.bad, [
    { number: 2, reason: 'authors may have 100 names.' },
    { number: 3, reason: 'authors may have 300 characters.' },
    { number: 4, reason: 'outlet.name may have 300 characters.' },
  ])
})

t.test('threads hand texts over as they are stored', async t => {
  const long = 'é'.repeat(450_000)
  const texts = [
    { title: 'Eén', body: '<p>Eén.</p><p>Twee.</p>' },
    { title: 'Leeg', body: null },
    { title: 'Lang', body: long },
  ]
  const lines = texts.map(text => JSON.stringify({ ...JSON.parse(line(1)), ...text })).join('\n')
  const [group] = await readAll(lines, true)
  const read = group!.articles.map(({ prepared }) => {
    const { title, body, snippet, words } = prepared!
    return [title, body, snippet, words.title, words.body].map(
      text => text && Buffer.from(text).toString(),
    )
  })
  t.same(read, [
    ['Eén', 'Eén.\n\nTwee.', 'Eén. Twee.', '\neen\n', '\neen\ntwee\n'],
    ['Leeg', null, null, '\nleeg\n', '\n'],
    ['Lang', long, 'é'.repeat(200), '\nlang\n', `\n${'e'.repeat(450_000)}\n`],
  ])
})

t.test(
  'a slip in the name of a field that is absent is a bad line; other unknown fields are ignored',
  async t => {
    const article = JSON.parse(line(1))
    const { title, outlet, ...rest } = article
    const lines = [
      { ...rest, outlet, titel: title },
      { ...rest, title, outlet: { nmae: 'x' } },
      { ...article, publishedAt: '2026-01-01T00:00:00Z', published_at: undefined },
      { ...article, uri: 'x', section: 'Sport' },
    ]
    const [group] = await readAll(lines.map(one => JSON.stringify(one)).join('\n'), false)
    const meant = [
      'field titel; did you mean title',
      'nmae; did you mean name',
      'publishedAt; did you mean published_at',
    ]
    const reasons = group?.bad.map(({ reason }) => reason)
    t.match(
      reasons,
      meant.map(words => new RegExp(words)),
    )
    t.equal(group?.articles.length, 1)
  },
)

t.test('a dry run prepares no texts', async t => {
  const [group] = await readAll(line(1), false)
  t.equal(group?.articles.length, 1)
  t.notOk(group?.articles[0]?.prepared)
})

t.test('a stream that breaks is an error for the caller', async t => {
  const reader = openArticleReader({ prepare: false })
  t.teardown(() => reader.close())
  async function* broken() {
    yield Buffer.from(`${line(1)}\n`)
    throw new Error('the file is cut off')
  }
  await t.rejects(
    async () => {
      for await (const group of readGroups(broken(), reader)) t.ok(group)
    },
    { message: 'the file is cut off' },
  )
})

t.test('a slow pipe gives its articles and its bad lines before a group is full', async t => {
  const reader = openArticleReader({ prepare: false })
  t.teardown(() => reader.close())
  let goOn = () => {}
  const read = new Promise<void>(resolve => {
    goOn = resolve
  })
  async function* slow() {
    yield Buffer.from(`${line(1)}\n{\n`)
    await read
    yield Buffer.from(line(3))
  }
  const groups: string[] = []
  for await (const { articles, bad } of readGroups(Readable.from(slow()), reader)) {
    groups.push(
      [...articles.map(({ title }) => title), ...bad.map(({ number }) => `line ${number}`)].join(),
    )
    goOn()
  }
  t.same(groups, ['Titel 1,line 2', 'Titel 3'])
})

t.test('many bad lines in a row with one reason are told in one sentence', async t => {
  const bad = (from: number, to: number, reason: string) =>
    Array.from({ length: to - from + 1 }, (_, i) => ({ number: from + i, reason }))
  t.strictSame(
    badInWords([...bad(2, 11, 'a'), ...bad(12, 12, 'b'), ...bad(14, 14, 'a'), ...bad(20, 28, 'a')]),
    [
      'Lines 2 to 11: a',
      'Line 12: b',
      'Line 14: a',
      ...bad(20, 28, 'a').map(one => `Line ${one.number}: a`),
    ],
  )
})

import t from 'tap'
import { WRITERS } from './formats.ts'

const article = {
  id: 'a1',
  title: '=HYPERLINK("http://evil.example")',
  url: 'https://dagkoerier.example/1',
  snippet: 'Een "citaat", en\neen regel',
  published_at: null,
  authors: [
    { id: 'x', name: 'Ann' },
    { id: 'y', name: 'Bo' },
  ],
  outlet: { name: 'De Dagkoerier', domain: null },
  language: 'nl',
  country: 'NL',
  relevance: 0.5,
}

t.test('issue 21.4: CSV quotes what it must, and holds no formula', async t => {
  t.equal(
    WRITERS.csv.line(article),
    'a1,"\'=HYPERLINK(""http://evil.example"")",https://dagkoerier.example/1,"Een ""citaat"", en\neen regel",,,Ann; Bo,De Dagkoerier,,nl,NL,0.5\r\n',
  )
  t.equal(WRITERS.csv.head.split(',').length, 12)
})

t.test('issue 21.4: a spreadsheet that begins cells at semicolons finds no formula either', async t => {
  const titleOf = (title: string) => WRITERS.csv.line({ title }).slice(1, -'\r\n'.length).replace(/,+$/, '')
  for (const [title, written] of [
    ['Weer;=cmd|calc', "Weer;'=cmd|calc"],
    ['a; @b;+c', "a; '@b;'+c"],
    ['a\n=b', '"a\n\'=b"'],
    ['\t=b', "'\t=b"],
    ['E=mc2; x-y', 'E=mc2; x-y'],
  ] as const) {
    t.equal(titleOf(title), written)
  }
})

t.test('issue 21.4: NDJSON holds the article as the API writes it', async t => {
  t.same(JSON.parse(WRITERS.ndjson.line(article)), article)
})

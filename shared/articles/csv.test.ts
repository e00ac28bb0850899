import t from 'tap'
import { stopwatch } from '#test/turns'
import CELLS from './cells.json' with { type: 'json' }
import { CSV_COLUMNS, csvHead, csvLine } from './csv.ts'

const COLUMNS = CSV_COLUMNS.filter(name => name !== 'body')

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
  first: 'a0',
  agencies: ['AFP', '=ANP'],
  section: 'opinion',
  kind: null,
  access: 'paid',
}

t.test('CSV quotes what it must, and holds no formula', async t => {
  t.equal(
    csvLine(article, COLUMNS),
    'a1,"\'=HYPERLINK(""http://evil.example"")",https://dagkoerier.example/1,"Een ""citaat"", en\neen regel",,,Ann; Bo,nl,NL,De Dagkoerier,,0.5,a0,AFP; \'=ANP,opinion,,paid\r\n',
  )
  t.equal(csvHead(COLUMNS).split(',').length, 17)
})

t.test('a spreadsheet that begins cells at semicolons finds no formula either', async t => {
  const titleOf = (title: string) => csvLine({ title }, ['title']).slice(0, -2)
  for (const { title, written } of CELLS) {
    t.equal(titleOf(title), written)
  }
  const took = stopwatch()
  titleOf('\n'.repeat(40_000))
  t.ok(took() < 2_000, `${took()} ms`)
})

t.test('control characters are written as an escape that a terminal does not obey', async t => {
  const title = '\u001b]0;owned\u0007\u202Etxt'
  t.equal(csvLine({ title }, ['title']), '\\u001b]0;owned\\u0007\\u202etxt\r\n')
})

t.test('authors are names or objects, and what is missing is empty', async t => {
  const columns = ['authors', 'outlet_name', 'relevance'] as const
  t.equal(csvLine({ authors: ['A', 'B'], outlet: { name: null } }, columns), 'A; B,,\r\n')
  t.equal(csvLine({ authors: 'A', outlet: null }, columns), ',,\r\n')
})

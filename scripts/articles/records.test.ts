import { Readable } from 'node:stream'
import t from 'tap'
import { type Group, readGroups } from './groups.ts'
import { readMapping } from './mapping.ts'
import { openArticleReader } from './reader.ts'
import { formatOf, recordsOf } from './records.ts'

/** Reads a text, in parts of a few bytes, so that cells and letters are cut. */
async function read(
  text: string,
  format: 'ndjson' | 'csv' | 'json',
  { map = '', defaults = 'country=NL,language=nl' }: { map?: string; defaults?: string } = {},
): Promise<Group> {
  const mapping = readMapping(map || undefined, defaults || undefined, format !== 'ndjson')
  const reader = openArticleReader({ prepare: false, mapping })
  t.teardown(() => reader.close())
  const bytes = Buffer.from(text)
  const parts = Array.from({ length: Math.ceil(bytes.length / 7) }, (_, at) =>
    bytes.subarray(at * 7, at * 7 + 7),
  )
  const groups: Group[] = []
  for await (const group of readGroups(Readable.from(parts), reader, recordsOf(format)))
    groups.push(group)
  t.equal(groups.length, 1, JSON.stringify(groups))
  return groups[0]!
}

t.test("Media Cloud's columns are known by name", async t => {
  const { articles, bad, notes } = await read(
    `\uFEFFid,indexed_date,language,media_name,media_url,publish_date,title,url\r
a1,2024-03-01 10:00:00.123,fr,Le Courrier,lecourrier.example,2024-02-29,"L’écluse, ""fermée""\r
deux lignes",https://www.lecourrier.example/1\r
a2,,,Le Courrier,https://www.lecourrier.example/,2024-02-30,Non,https://www.lecourrier.example/2\r
`,
    'csv',
  )
  t.match(articles, [
    {
      id: 'a1',
      title: 'L’écluse, "fermée" deux lignes',
      publishedAt: new Date('2024-02-29'),
      outlet: { name: 'Le Courrier', domain: 'lecourrier.example' },
      language: 'fr',
      country: 'NL',
    },
  ])
  t.match(bad, [{ number: 4, reason: /^published_at must be/ }])
  t.same(notes, { ignored: new Map(), ahead: 0 })
})

t.test("AmCAT's and 4CAT's columns are known by name, with any separator", async t => {
  const amcat = await read(
    'date;publisher;text;headline;author;section;url\n2024-02-29T09:00:00;De Krant;De brug is dicht.;Brug;Jan Maes; Els Bos;Sport;https://krant.example/1\n',
    'csv',
  )
  t.match(amcat.bad, [{ number: 2, reason: 'it has 8 cells, and the head 7.' }])
  const whole = await read(
    'date\tpublisher\ttext\theadline\tauthor\tsection\turl\n2024-02-29T09:00:00\tDe Krant\tDe brug is dicht.\tBrug\tJan Maes; Els Bos\tSport\thttps://www.krant.example/1',
    'csv',
  )
  t.match(whole.articles, [
    {
      title: 'Brug',
      body: 'De brug is dicht.',
      authors: ['Jan Maes', 'Els Bos'],
      outlet: { name: 'De Krant', domain: 'krant.example' },
      stated: { section: 'Sport', kind: null, access: null },
    },
  ])
  t.same(whole.notes.ignored, new Map())
  const fourcat = await read(
    'id,thread_id,timestamp,subject,author,body,url,domain\n1,1,2024-02-29 09:00:00,Brug,Jan,Dicht,https://krant.example/1,krant.example',
    'csv',
  )
  t.match(fourcat.articles, [{ title: 'Brug', body: 'Dicht', outlet: { domain: 'krant.example' } }])
})

t.test('a JSON array is read item by item, with names of one’s own', async t => {
  const items = [
    { kop: 'Brug [dicht], "vandaag"', link: 'https://ik:geheim@krant.example/1', tekst: 'a{b]' },
    { kop: 'Sluis', link: 'geen' },
  ]
  const { articles, bad } = await read(` ${JSON.stringify(items, null, 1)}\n`, 'json', {
    map: 'kop=title,link=url,tekst=body',
  })
  const url = 'https://krant.example/1'
  t.match(articles, [{ url, title: 'Brug [dicht], "vandaag"', body: 'a{b]' }])
  t.match(bad, [{ number: 2, reason: /^url is no http/ }])
  const cut = await read('[{"url": "https://krant.example/1"', 'json')
  t.match(cut.bad, [{ number: 1, reason: 'the array ends in the middle of it.' }])
  await t.rejects(read('{"url": 1}\n', 'json'), /not one JSON array/)
})

t.test('unknown fields are counted, and a time far ahead becomes null', async t => {
  const line = {
    url: 'https://krant.example/1',
    title: 'Brug',
    outlet: { domain: 'krant.example' },
    text: 'De brug is dicht.',
    published_at: new Date(Date.now() + 25 * 3_600_000).toISOString(),
  }
  const soon = { ...line, published_at: new Date(Date.now() + 23 * 3_600_000).toISOString() }
  const lines = [line, soon].map(one => JSON.stringify(one)).join('\n')
  const text = lines.replace('{', '{"__proto__": 1, ')
  const { articles, notes } = await read(text, 'ndjson')
  const ignored = new Map([
    ['__proto__', 1],
    ['text', 2],
  ])
  t.same(notes, { ignored, ahead: 1 })
  t.match(articles, [{ body: null, publishedAt: null }, { publishedAt: Date }])
  const mapped = await read(lines, 'ndjson', { map: 'text=body' })
  t.same(mapped.notes.ignored, new Map())
  t.equal(mapped.articles[0]?.body, 'De brug is dicht.')
})

t.test('a default stands for what a line does not have, and for nothing else', async t => {
  const url = 'https://krant.example/1'
  const line = { url, title: 'Brug', language: null, country: '', outlet: { domain: 'a.example' } }
  const other = { ...line, outlet: { name: 'De Dag' }, language: 'fr', country: 'BE' }
  const { articles, bad } = await read(
    [line, other].map(one => JSON.stringify(one)).join('\n'),
    'ndjson',
    { defaults: 'language=nl,country=NL,outlet_name=De Krant,outlet_domain=krant.example' },
  )
  t.same(bad, [])
  t.match(articles, [
    { language: 'nl', country: 'NL', outlet: { name: 'De Krant', domain: 'a.example' } },
    { language: 'fr', country: 'BE', outlet: { name: 'De Dag', domain: 'krant.example' } },
  ])
})

t.test('the form of a file is told from its name, or by the operator', async t => {
  for (const [file, expected] of [
    ['a.csv', 'csv'],
    ['a.tsv.gz', 'csv'],
    ['a.JSON', 'json'],
    ['a.ndjson.gz', 'ndjson'],
    ['-', 'ndjson'],
  ] as const)
    t.equal(formatOf(file, undefined), expected, file)
  t.equal(formatOf('-', 'csv'), 'csv')
  t.throws(() => formatOf('-', 'xml'), /--format is ndjson, csv, json/)
  t.throws(() => readMapping('text', undefined, false), /as text=body/)
  t.throws(() => readMapping('text=boddy', undefined, false), /there is no field boddy/)
})

import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { parquetReadObjects } from 'hyparquet'
import t from 'tap'
import { readFound } from '#scripts/articles/export'
import { parseArticle } from '#scripts/articles/line'
import { csvLine } from '#shared/articles/csv'
import { openCopyGroups } from '#shared/copies/pass'
import { startTestApi } from '#test/contract/api'
import { run } from '#test/script'

const api = await startTestApi(t)
const outlet = { name: 'Le Plateau', domain: 'plateau.example' }
await api.index([
  {
    title: 'De trein',
    body: 'Een lange tekst.',
    authors: ['Anna de Wit', 'Jan Maas'],
    stated: { section: 'Spoor; =nieuws', kind: 'analysis', access: null },
  },
  {
    title: 'Le "train", à l’heure',
    body: 'Un texte,\nsur deux lignes.',
    language: 'fr',
    country: 'BE',
    outlet,
  },
  {
    title: 'Sans texte',
    language: 'fr',
    country: 'BE',
    outlet,
    publishedAt: new Date('2021-03-01T10:00:00Z'),
  },
  { title: 'Zonder datum', publishedAt: null, country: 'BE' },
])

/** Runs the script as a person would. */
async function exported(
  ...args: string[]
): Promise<{ bytes: Buffer<ArrayBuffer>; text: string; err: string }> {
  const script = new URL('../../scripts/export.ts', import.meta.url).pathname
  const env = { ...process.env, DATABASE_URL: api.config.DATABASE_URL }
  const running = run(process.execPath, [script, ...args], { env, encoding: 'buffer' })
  const { stdout, stderr } = await running.catch(error => error)
  return { bytes: stdout, text: String(stdout), err: String(stderr) }
}
const articlesOf = (
  text: string,
): { title: string; snippet: string | null; body?: string | null }[] =>
  text.split('\n').flatMap(line => (line === '' ? [] : [JSON.parse(line)]))
const titles = async (...args: string[]) =>
  articlesOf((await exported(...args)).text).map(({ title }) => title)

t.test('export selects by language, country, outlet, dates and query', async t => {
  t.equal((await titles()).length, 4)
  t.strictSame(
    await titles('--language', 'fr'),
    ['Sans texte', 'Le "train", à l’heure'],
    'oldest first',
  )
  t.strictSame(await titles('--country', 'BE', '--language', 'nl'), ['Zonder datum'])
  t.strictSame(await titles('--outlet', 'PLATEAU', '--published-before', '2021-12-31'), [
    'Sans texte',
  ])
  t.strictSame(await titles('--published-after', '2026-01-01', '--country', 'NL'), ['De trein'])
  t.strictSame(await titles('--q', 'texte', '--search-in', 'title_body', '--search', 'boolean'), [
    'Sans texte',
    'Le "train", à l’heure',
  ])
  t.match((await exported('--country', 'XX')).err, /^export: --country: .*\n$/)
  t.match(
    (await exported('--outlets', 'mijn regio')).err,
    /^export: --outlets: sets belong to keys/,
  )
  t.match(
    (await exported('--format', 'xml')).err,
    /^export: --format is one of ndjson, csv, parquet, words\.\n$/,
  )
  const both = await exported('--json', '--format', 'csv')
  t.match(
    both.err,
    /^export: --json and --format csv contradict each other; write one of them\.\n$/,
  )
  t.equal(both.text, '', 'nothing is written')
})

t.test('a manifest says what was exported, and nothing else is said', async t => {
  const file = `${t.testdir()}/manifest.json`
  const { bytes, err } = await exported('--country', 'BE', '--language', 'fr', '--manifest', file)
  t.equal(err, '')
  const { rows } = await api.pool.query<{ at: Date }>('select max(ingested_at) as at from articles')
  t.match(JSON.parse(await readFile(file, 'utf8')), {
    version: /^\d/,
    format: 'ndjson',
    query: { country: 'BE', language: 'fr' },
    articles: 2,
    bytes: bytes.length,
    sha256: createHash('sha256').update(bytes).digest('hex'),
    watermark: rows[0]?.at.toISOString(),
  })
})

t.test(
  'an export with copies has them last, an import passes over them, and pairs of outlets are counted',
  async t => {
    const body = Array.from({ length: 100 }, (_, n) => `brug${n}`).join(' ')
    const day = new Date(Date.now() - 3 * 86_400_000).toISOString().slice(0, 11)
    const times = {
      'vroeg.example': '08:00',
      '=laat.example': '09:30',
      'middernacht.example': '00:00',
      'gelijk.example': '08:00',
    }
    await api.index(
      Object.entries(times).map(([domain, time]) => ({
        title: 'Kopie',
        body,
        language: 'lb' as const,
        url: `https://x.example/${domain}`,
        outlet: { name: domain === 'vroeg.example' ? 'Vroege Vogel' : null, domain },
        publishedAt: new Date(`${day}${time}:00Z`),
        agencies: domain === '=laat.example' ? ['Belga', 'AFP'] : [],
      })),
    )
    await openCopyGroups(api.pool).pass(new AbortController().signal)
    const csv = (await exported('--copies', '--format', 'csv', '--language', 'lb')).text
      .trim()
      .split('\r\n')
    t.match(csv[0], /,outlet_domain,first,agencies,section,kind,access$/)
    const [first] = articlesOf((await exported('--language', 'lb', '--outlet', 'vroeg')).text)
    const { id } = first as unknown as { id: string }
    t.equal(csv.filter(line => line.endsWith(`,${id},AFP; Belga,,,`)).length, 4)
    const { bytes } = await exported('--copies', '--format', 'parquet', '--language', 'lb')
    const rows = await parquetReadObjects({ file: new Uint8Array(bytes).buffer })
    t.match(rows[0], { first: id, agencies: ['AFP', 'Belga'] })
    const plain = (await exported('--body')).text
    const having = (await exported('--body', '--copies')).text
    t.match(having, /"agencies" : \["AFP", ?"Belga"\]/)
    const read = (text: string) =>
      text
        .trim()
        .split('\n')
        .map(line => parseArticle(line, Date.now()))
    t.same(read(having), read(plain), 'the same articles')

    const script = new URL('../../scripts/copies.ts', import.meta.url).pathname
    const env = { ...process.env, DATABASE_URL: api.config.DATABASE_URL }
    const printed = async (...args: string[]) =>
      (await run(process.execPath, [script, ...args], { env })).stdout
    t.same(
      (await printed('--days', '5', '--csv'))
        .split(/\r?\n/)
        .map(line => line.split(',').slice(0, 5).join()),
      [
        'first,later,articles,share_of_later,unknown',
        "gelijk.example,'=laat.example,1,1,0",
        "vroeg.example,'=laat.example,1,1,0",
        "'=laat.example,middernacht.example",
        'gelijk.example,middernacht.example',
        'gelijk.example,vroeg.example',
        "middernacht.example,'=laat.example",
        'middernacht.example,gelijk.example',
        'middernacht.example,vroeg.example',
        'vroeg.example,gelijk.example',
        'vroeg.example,middernacht.example',
        '',
      ].map(line => (line.split(',').length === 2 ? `${line},0,0,1` : line)),
    )
    t.equal(await printed('--days', '2'), '', 'articles of other days are not counted')
    const from = ['--from', day.slice(0, 10), '--to', day.slice(0, 10)]
    t.equal(await printed(...from, '--csv'), await printed('--days', '5', '--csv'))
    const brug = ['--q', 'brug7', '--search', 'boolean', '--search-in', 'title_body']
    t.equal(await printed(...from, ...brug, '--csv'), await printed(...from, '--csv'))
    t.equal(await printed(...from, '--q', 'nergens'), '')
    const pairs = (await printed(...from, '--json')).trim().split('\n')
    t.match(
      pairs.map(line => JSON.parse(line)).find(({ first }) => first === 'vroeg.example'),
      { first_name: 'Vroege Vogel', later_name: null },
    )
    t.same((await printed('--days', '5')).split('\n').slice(0, 5), [
      '                       1   2   3   4',
      '1 middernacht.example      ?1  ?1  ?1',
      '2 gelijk.example       ?1      ?1  1 100%',
      '3 vroeg.example        ?1  ?1      1 100%',
      '4 =laat.example        ?1  -   -',
    ])
  },
)

t.test('CSV quotes what needs it', async t => {
  const { text } = await exported('--format', 'csv', '--body', '--language', 'fr')
  const [head, ...lines] = text.split('\r\n')
  t.equal(
    head,
    'id,title,url,snippet,body,published_at,ingested_at,authors,language,country,outlet_name,outlet_domain,section,kind,access',
  )
  t.equal(lines.length, 3, 'two records, and the end of the last')
  t.match(
    lines[1],
    /,"Le ""train"", à l’heure",https:.*,"Un texte,\nsur deux lignes\.",2026-.*,fr,BE,Le Plateau,/,
  )
  t.match(
    (await exported('--format', 'csv', '--q', 'trein')).text,
    /,Spoor; '=nieuws,analysis,\r\n$/,
    'what the outlet says, and nothing where it says nothing',
  )
  const article = {
    id: 'a',
    title: 'a\nb',
    url: 'u',
    snippet: null,
    published_at: null,
    ingested_at: null,
  }
  const more = {
    authors: ['A', 'B'],
    language: 'nl',
    country: 'NL',
    outlet: { name: null, domain: 'x' },
  }
  t.equal(
    csvLine({ ...article, ...more }, ['title', 'authors', 'outlet_name', 'snippet']),
    '"a\nb",A; B,,\r\n',
  )
  t.match(
    (await exported('--format', 'csv', '--country', 'LU')).text,
    /^id,title,[^\n]*\r\n$/,
    'the head alone',
  )
})

/** Lines leave out what an outlet does not say. */
const UNSAID = { section: null, kind: null, access: null }

t.test('Parquet reads as it was written', async t => {
  for (const args of [[], ['--language', 'fr'], ['--country', 'LU'], ['--body']]) {
    const { bytes } = await exported('--format', 'parquet', ...args)
    const rows = await parquetReadObjects({
      file: bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length),
    })
    const articles = articlesOf((await exported(...args)).text)
    t.equal(rows.length, articles.length)
    t.strictSame(
      rows
        .map(({ outlet_name, outlet_domain, published_at, ingested_at, ...row }) => ({
          ...row,
          outlet: { name: outlet_name, domain: outlet_domain },
          published_at: published_at?.toISOString() ?? null,
          ingested_at: ingested_at?.toISOString() ?? null,
        }))
        .map(row => Object.fromEntries(Object.entries(row).sort())),
      articles.map(article => Object.fromEntries(Object.entries({ ...UNSAID, ...article }).sort())),
      args.join(' '),
    )
  }
})

t.test('a sample is the same for the same seed, and another for another', async t => {
  const all = await titles()
  const sample = async (seed: string) => await titles('--sample', '2', '--seed', seed)
  const first = await sample('a')
  t.equal(first.length, 2)
  t.strictSame(await sample('a'), first)
  const [one = '', two = ''] = first
  t.ok(all.indexOf(one) <= all.lastIndexOf(two), 'in the order of the whole')
  const others = await Promise.all(['b', 'c', 'd', 'e', 'f'].map(sample))
  t.ok(others.some(other => other.join() !== first.join()))
  t.match((await exported('--seed', 'a')).err, /--seed goes with --sample N/)
})

t.test('words are counted of many articles alone, and rare ones are left out', async t => {
  const few = await exported('--format', 'words')
  t.match(few.err, /^export: Words are counted of at least 50 articles; this search finds \d+\./m)
  t.equal(few.text, '')
  await api.index(
    Array.from({ length: 50 }, (_, at) => ({
      title: `Sluis ${at}`,
      body: `De schipper wacht, de schipper vloekt.${at < 4 ? ' Zelden.' : ''}`,
    })),
  )
  const { text } = await exported('--q', 'sluis', '--format', 'words')
  const lines = text.split('\r\n')
  t.strictSame(lines.slice(0, 5), [
    'word,articles,times',
    'schipper,50,100',
    'sluis,50,50',
    'vloekt,50,50',
    'wacht,50,50',
  ])
  t.notMatch(text, /zelden|^de,/m)
})

t.test('a page whose articles are all taken out meanwhile writes no line', async t => {
  const pages = [
    { rows: [{ seq: 10_000n }], next: 1 },
    { rows: [{ seq: 1n }], next: null },
  ]
  const index = { search: async (_: null, position: number | null) => pages[position ?? 0]! }
  const found = readFound(api.pool, index, null, { body: false, copies: false })
  const lengths: number[] = []
  for await (const lines of found) lengths.push(lines.length)
  t.same(lengths, [1])
})

import { PassThrough } from 'node:stream'
import { setTimeout } from 'node:timers/promises'
import t from 'tap'
import { createTestDatabase, createTestPool } from '#test/database'
import { until } from '#test/fleet'
import { openLinkTo } from '#test/fleet/links/link'
import { jsonLines, runScript, startScript } from '#test/script'

/** Runs a script with something on its standard input. */
async function run(database: { url: string }, script: string, args: string[], input = '') {
  const ran = await runScript(script, args, { DATABASE_URL: database.url, EMBED_DELAY: '0' }, input)
  return { ...ran, lines: jsonLines(ran.out) }
}

const LINE = {
  title: 'Regering valt',
  url: 'https://www.dagkoerier.example/a/1?utm_source=rss',
  published_at: '2024-02-29T10:00:00+01:00',
  authors: ['Jan Jansen', 'Zoë Müller'],
  outlet: { name: 'De Dagkoerier', domain: 'www.Dagkoerier.example' },
  language: 'NL',
  country: 'nl',
  body: '<p>Het kabinet is <b>gevallen</b>.</p><script>let x</script><p>Caf&eacute;s open.</p>',
}

const ndjson = (lines: object[]) => lines.map(line => JSON.stringify(line)).join('\n')

t.test(
  'import tells that a line has the domain of an outlet of the catalogue, but no name',
  async t => {
    const { database, pool } = await createTestPool(t)
    await pool.query(
      `insert into outlets (domain, name, country, languages, time_zone)
     values ('dagkoerier.example', 'De Dagkoerier', 'NL', '{nl}', 'Europe/Amsterdam')`,
    )
    const unnamed = [1, 2].map(number => ({
      ...LINE,
      url: `https://dagkoerier.example/b/${number}`,
      outlet: { domain: 'dagkoerier.example' },
    }))
    for (const options of [['--dry-run'], []]) {
      const { code, err } = await run(
        database,
        'import',
        ['-', ...options],
        ndjson([LINE, ...unnamed]),
      )
      t.equal(code, 0, err)
      t.equal(err.split('dagkoerier.example is "De Dagkoerier" in the catalogue').length, 2, err)
    }
  },
)

t.test('import: a line becomes an article; export: an article becomes a line', async t => {
  const database = await createTestDatabase(t)
  const lines = [
    {
      ...LINE,
      id: 'kept-1',
      ingested_at: '2024-03-01T00:00:00Z',
      snippet: 'passed over',
      relevance: 1,
    },
    {
      ...LINE,
      url: 'https://dagkoerier.example/a/2',
      published_at: null,
      ingested_at: null,
      authors: [],
      body: null,
    },
    {
      ...LINE,
      url: 'https://dagkoerier.example/a/3',
      published_at: '1848-06-01',
      authors: [{ id: 'x', name: 'Jan Jansen' }],
    },
  ]
  const input = `\ufeff${ndjson(lines).replaceAll('\n', '\r\n')}\n\n`
  const imported = await run(database, 'import', ['-'], input)
  t.equal(imported.code, 0, imported.err)
  t.match(imported.err, /Indexed 3 articles; 0 bad lines skipped\./)
  t.equal(imported.out, '', 'words go to standard error')

  const exported = await run(database, 'export', ['--body'])
  t.equal(exported.code, 0, exported.err)
  t.same(exported.lines[0], {
    id: 'kept-1',
    url: LINE.url,
    title: 'Regering valt',
    snippet: 'Het kabinet is gevallen. Cafés open.',
    body: 'Het kabinet is gevallen.\n\nCafés open.',
    published_at: '2024-02-29T09:00:00.000Z',
    ingested_at: '2024-03-01T00:00:00.000Z',
    authors: ['Jan Jansen', 'Zoë Müller'],
    language: 'nl',
    country: 'NL',
    outlet: { name: 'De Dagkoerier', domain: 'dagkoerier.example' },
  })
  t.match(exported.lines[1], { body: null, published_at: null, ingested_at: null, authors: [] })
  t.match(exported.lines[2], {
    published_at: '1848-06-01T00:00:00.000Z',
    ingested_at: /^20/,
    authors: ['Jan Jansen'],
  })
  const bare = await run(database, 'export', [])
  t.notOk('body' in bare.lines[0])
  const since = await run(database, 'export', ['--ingested-after', '2024-03-01T00:00:00Z'])
  const urls = since.lines.map(line => line.url)
  t.same(urls, [LINE.url, 'https://dagkoerier.example/a/3'])
})

t.test(
  'import: what export writes can be imported elsewhere, and there again without change',
  async t => {
    const here = await createTestDatabase(t)
    const there = await createTestDatabase(t)
    const lines = Array.from({ length: 130 }, (_, number) => ({
      ...LINE,
      url: `https://dagkoerier.example/${number}`,
      title: `Titel ${number} “é”`,
      body: number % 3 === 0 ? null : `tekst ${number}\n\n1 < 2 & 3 > 2`,
      ...(number % 4 === 0 ? { ingested_at: null } : {}),
    }))
    await run(here, 'import', ['-'], ndjson(lines))
    const first = await run(here, 'export', ['--body'])
    t.equal(first.lines.length, 130)
    await run(there, 'import', ['-'], first.out)
    t.equal((await run(there, 'export', ['--body'])).out, first.out)
    const again = await run(there, 'import', ['-'], first.out)
    t.match(again.err, /Indexed 0 articles, 130 known already; 0 bad lines skipped\./)
    t.equal(again.code, 0)
  },
)

t.test('import: a text about HTML is exported, and read again, as what it is', async t => {
  const here = await createTestDatabase(t)
  const there = await createTestDatabase(t)
  const bodies = [
    '<p>Schrijf &lt;b&gt;vet&lt;/b&gt; en AT&amp;amp;T, zie ?a=1&amp;copy=2</p>',
    '<p>Gewone tekst: 1 &lt; 2 &amp; 3.</p>',
    'Wat erachter staat, telt niet. \0',
  ]
  const lines = bodies.map((body, number) => ({
    ...LINE,
    url: `https://dagkoerier.example/${number}`,
    body,
  }))
  await run(here, 'import', ['-'], ndjson(lines))
  const first = await run(here, 'export', ['--body'])
  t.same(
    first.lines.map(({ body, plain }) => [body, plain]),
    [
      ['Schrijf <b>vet</b> en AT&amp;T, zie ?a=1&copy=2', true],
      ['Gewone tekst: 1 < 2 & 3.', undefined],
      ['Wat erachter staat, telt niet.', undefined],
    ],
  )
  await run(there, 'import', ['-'], first.out)
  t.equal((await run(there, 'export', ['--body'])).out, first.out)
})

t.test(
  'import: characters that no database holds stop no line, and every address is one',
  async t => {
    const database = await createTestDatabase(t)
    // Nothing in it repeats: an index cannot make it shorter.
    const longest = Array.from({ length: 300 }, (_, at) =>
      String.fromCharCode(0x4e00 + ((at * 7_919) % 20_000)),
    ).join('')
    const lines = [
      { ...LINE, authors: ['Jan\0Jansen', 'Zo\ud800'] },
      {
        ...LINE,
        url: 'https://dagkoerier.example/2',
        outlet: { name: 'De\0Krant', domain: 'krant\ud800.example' },
      },
      { ...LINE, url: 'https://dagkoerier.example/a\0b c/é', title: 'Twee\0\0woorden' },
      {
        ...LINE,
        url: 'https://dagkoerier.example/4',
        outlet: { name: longest },
        authors: [longest],
      },
    ]
    const imported = await run(database, 'import', ['-'], ndjson(lines))
    t.match(imported.err, /Indexed 4 articles; 0 bad lines skipped\./)
    const { lines: found } = await run(database, 'export', [])
    t.same(found[0].authors, ['Jan Jansen', 'Zo\ufffd'])
    t.same(found[1].outlet, { name: 'De Krant', domain: 'krant\ufffd.example' })
    t.equal(found[2].url, 'https://dagkoerier.example/a%20b%20c/%C3%A9')
    t.equal(found[2].title, 'Twee woorden')
    t.same([found[3].outlet, found[3].authors], [{ name: longest, domain: null }, [longest]])
  },
)

t.test(
  'import: a bad line is reported by its number and skipped; the others are indexed',
  async t => {
    const database = await createTestDatabase(t)
    const bad: [string, RegExp][] = [
      ['{', /not JSON/],
      ['[]', /no object/],
      [JSON.stringify({ ...LINE, title: ' ' }), /title is missing/],
      [JSON.stringify({ ...LINE, url: 'javascript:alert(1)' }), /url is no http/],
      [JSON.stringify({ ...LINE, published_at: '2023-02-29T00:00:00Z' }), /published_at must be/],
      [JSON.stringify({ ...LINE, ingested_at: 'yesterday' }), /ingested_at must be/],
      [JSON.stringify({ ...LINE, language: 'es' }), /language must be one of nl, fr, de, lb, en/],
      [JSON.stringify({ ...LINE, country: 'DE' }), /country must be one of NL, BE, LU/],
      [JSON.stringify({ ...LINE, authors: 'Jan' }), /authors must be a list/],
      [JSON.stringify({ ...LINE, id: 'a b' }), /id must be/],
      [
        JSON.stringify({ ...LINE, ingested_at: '2099-01-01T00:00:00Z' }),
        /ingested_at lies in the future/,
      ],
      [
        JSON.stringify({ ...LINE, outlet: { name: 'x'.repeat(301) } }),
        /outlet\.name may have 300 characters/,
      ],
    ]
    const input = [
      JSON.stringify(LINE),
      ...bad.map(([line]) => line),
      JSON.stringify({ ...LINE, url: 'https://dagkoerier.example/z' }),
    ]
    const tried = await run(database, 'import', ['-', '--dry-run', '--json'], input.join('\n'))
    t.equal(tried.code, 1)
    t.match(tried.err, /\n2 good lines, 12 bad ones; nothing is indexed\./)
    t.equal((await database.query('select from articles')).length, 0)
    const { code, err, lines } = await run(database, 'import', ['-', '--json'], input.join('\n'))
    t.equal(code, 1)
    t.same(lines, [{ indexed: 2, known: 0, removed: 0, bad: 12, ignored: {}, ahead: 0 }])
    bad.forEach(([, reason], index) => {
      const line = err.split('\n').find(line => line.startsWith(`Line ${index + 2}:`))
      t.match(line, reason)
    })
    t.match(err, /Indexed 2 articles; 12 bad lines skipped\./)
  },
)

t.test('import: at a rate, articles are shown as they come', async t => {
  const database = await createTestDatabase(t)
  const lines = Array.from({ length: 100 }, (_, number) => ({
    ...LINE,
    url: `https://dagkoerier.example/${number}`,
  }))
  const importing = run(database, 'import', ['-', '--rate', '50', '--json'], ndjson(lines))
  const seen = new Set<number>()
  while ((await Promise.race([importing, setTimeout(20)])) === undefined) {
    const [row] = await database.query('select last_seq::int as last from ingest_clock')
    seen.add(Number(row!.last))
  }
  t.ok(seen.size >= 5, `in small batches: ${[...seen]}`)
  t.match(await importing, { code: 0, lines: [{ indexed: 100, known: 0, bad: 0 }] })
  for (const rate of ['0', '1.5', '501', 'x']) {
    const { code, err } = await run(database, 'import', ['-', '--rate', rate])
    t.equal(code, 2)
    t.match(err, /--rate is "[^"]+"; write a whole number from 1 to 500\./)
  }
})

t.test(
  'import: of a steady slow pipe, articles are written before they make a segment',
  async t => {
    const database = await createTestDatabase(t)
    const pipe = new PassThrough()
    const importing = startScript(
      'import',
      ['-'],
      { DATABASE_URL: database.url, EMBED_DELAY: '0' },
      pipe,
    )
    let written = 0
    for (let number = 0; written === 0 && number < 100; number++) {
      pipe.write(`${JSON.stringify({ ...LINE, url: `https://dagkoerier.example/${number}` })}\n`)
      await setTimeout(700)
      written = await database.count('articles')
    }
    t.ok(written > 0 && written < 50, `${written} articles`)
    pipe.end()
    t.match(await importing.ended, { code: 0 })
  },
)

t.test('import: a line of any length takes no more memory than is allowed', async t => {
  const database = await createTestDatabase(t)
  const input = `${'x'.repeat(33 << 20)}\n${JSON.stringify(LINE)}\n`
  const { code, err } = await run(database, 'import', ['-'], input)
  t.equal(code, 1)
  t.match(err, /Line 1: it is longer than/)
  t.match(err, /Indexed 1 article; 1 bad line skipped\./)
})

t.test('import: a run that begins while Postgres is away waits for it', async t => {
  const database = await createTestDatabase(t)
  const link = await openLinkTo(database.url)
  t.teardown(() => link.close())
  link.break()
  const input = `${JSON.stringify(LINE)}\n`
  const importing = startScript(
    'import',
    ['-'],
    { DATABASE_URL: link.url, EMBED_DELAY: '0' },
    input,
  )
  await until(() => importing.err().includes('Postgres is away'), 60_000, importing.err)
  link.mend()
  const { code, err } = await importing.ended
  t.equal(code, 0)
  t.match(err, /Indexed 1 article; 0 bad lines skipped\./)
})

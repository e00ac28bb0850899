import t from 'tap'
import { startFleet } from '#test/fleet'
import { jsonLd } from './pages.ts'
import { articlePage, REPEATED, settle, storePages } from './stored.ts'

const { database, fleet } = await startFleet(t)

/** Pages of a series, each with a text of its own and the same sentence after it. */
const series = (from: number, count: number) =>
  Array.from({ length: count }, (_, at) => {
    const title = `Gemeente opent zwembad nummer ${from + at}`
    return {
      path: `/a/${from + at}`,
      html: articlePage(title, `zwembad nummer ${from + at}`),
      title,
    }
  })

t.test(
  'the pages of an outlet teach which lines are no text, and teach no other outlet',
  async t => {
    await fleet.start('normaliser')
    const withSentence = async (domain: string) => {
      const rows = await database.query(
        `select count(*)::int as n from article_texts where body like '%' || $1 and url like '%' || $2 || '/%'`,
        [REPEATED, domain],
      )
      return rows[0]?.n
    }
    await storePages(database, series(0, 10))
    await settle(database, 60_000)
    t.equal(await withSentence('dagkoerier.example'), 10, 'of ten pages, none has seen ten others')
    await storePages(database, series(20, 6))
    await storePages(database, series(40, 3), 'anders.example')
    await settle(database, 60_000)
    t.equal(await withSentence('dagkoerier.example'), 10, 'later texts end before it')
    t.equal(await withSentence('anders.example'), 3)
    const listed = (await fleet.script('outlets', 'list', '--json')).trim().split('\n')
    t.match(
      listed.map(line => JSON.parse(line)),
      [
        { domain: 'anders.example', template: { pages: 3, boilerplate: 0 } },
        { domain: 'dagkoerier.example', template: { pages: 16, boilerplate: 1 } },
      ],
    )
    t.match(
      await fleet.script('outlets', 'list'),
      /text page 100 %, 1 line of boilerplate left out/,
    )
  },
)

t.test('explain names the lines that were left out', async t => {
  const said = await fleet.script('explain', 'https://www.dagkoerier.example/a/20')
  t.match(said, /left out, as many pages of the outlet hold it: De oppositie vindt/)
})

t.test('each article keeps where its fields came from, and its outlet counts them', async t => {
  const title = 'Raad spreekt over plan 1'
  const data = jsonLd({ '@type': 'NewsArticle', headline: title, author: { name: 'Jan Smit' } })
  const html = articlePage(title, 'plan 1').replace('</head>', `${data}</head>`)
  const pages = [
    { path: '/a/1', html, title },
    { path: '/a/1?utm_source=feed', html, title },
    {
      path: '/a/2',
      html: null,
      status: 403,
      title: 'Raad sluit zwembad in Weert',
      summary: 'Het zwembad gaat dicht.',
    },
  ]
  const [first, again, bare] = await storePages(database, pages, 'herkomst.example')
  await settle(database, 60_000)
  const stored = await database.query('select page_no, origins from pages')
  const originsOf = new Map(
    stored.map(({ page_no, origins }) => [BigInt(String(page_no)), origins]),
  )
  const sightings = [originsOf.get(first!), originsOf.get(again!)]
  t.same(sightings.toSorted(), ['j3f2j2p2w3', null], 'the second sighting made no article')
  t.equal(originsOf.get(bare!), 'f2f2-1s1w2')
  const counts = await database.query(
    `select field, source, articles from outlet_origins join outlets using (outlet_no)
      where domain = 'herkomst.example' order by field, source`,
  )
  t.same(
    counts.map(({ field, source, articles }) => `${field} ${source} ${articles}`),
    [
      'authors json-ld 1',
      'authors none 1',
      'date feed 2',
      'language words 2',
      'text page 1',
      'text summary 1',
      'title feed 1',
      'title json-ld 1',
    ],
  )
})

import t from 'tap'
import { startFleet } from '../fleet.ts'
import { articlePage, settle, storePages } from './stored.ts'

t.setTimeout(300_000)
const { database, fleet } = await startFleet(t, { NORMALISE_THREADS: '1' })

t.test('each article keeps where its fields came from, and its outlet counts them', async t => {
  const jsonLd = { '@type': 'NewsArticle', headline: 'Raad spreekt over plan 1', author: { name: 'Jan Smit' } }
  const stated = articlePage('Raad spreekt over plan 1', 'plan 1').replace(
    '</head>',
    `<script type="application/ld+json">${JSON.stringify(jsonLd)}</script></head>`,
  )
  const [first, again, bare] = await storePages(database, [
    { path: '/a/1', html: stated, title: 'Raad spreekt over plan 1' },
    { path: '/a/1?utm_source=feed', html: stated, title: 'Raad spreekt over plan 1' },
    { path: '/a/2', html: null, status: 403, title: 'Raad sluit zwembad in Weert', summary: 'Het zwembad gaat dicht.' },
  ])
  await fleet.start('normaliser')
  await settle(database, 60_000)
  const pages = await database.query('select page_no, origins from pages order by page_no')
  const originsOf = new Map(pages.map(({ page_no, origins }) => [BigInt(String(page_no)), origins]))
  const sightings = [originsOf.get(first!), originsOf.get(again!)]
  t.same(sightings.toSorted(), ['j3f2j2p2w3', null], 'the second sighting made no article')
  t.equal(originsOf.get(bare!), 'f2f2-1s1w2')
  const counts = await database.query(
    "select field, source, articles, day = (now() at time zone 'UTC')::date as today from outlet_origins order by field, source",
  )
  t.same(
    counts.map(({ field, source, articles }) => `${field} ${source} ${articles}`),
    [
      ...['authors json-ld 1', 'authors none 1', 'date feed 2', 'language words 2'],
      ...['text page 1', 'text summary 1', 'title feed 1', 'title json-ld 1'],
    ],
  )
})

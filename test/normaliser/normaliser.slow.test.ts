import t, { type Test } from 'tap'
import { callDuePages } from '#services/normaliser/start'
import { createTestDatabase, createTestPool } from '#test/database'
import { createFleet } from '#test/fleet'
import { ANNOUNCED, INTERSTITIAL_EXAMPLES } from './interstitials.ts'
import { articlePage, settle, storePages } from './stored.ts'

const database = await createTestDatabase(t)
async function normalise(t: Test) {
  await createFleet({ DATABASE_URL: database.url }, t).start('normaliser')
  await settle(database, 30_000)
}

const pagesOf = (start: number, count: number) =>
  Array.from({ length: count }, (_, at) => {
    const title = `Raad spreekt over plan ${start + at}`
    return {
      path: `/nieuws/plan-${start + at}`,
      html: articlePage(title, `plan ${start + at}`),
      title,
    }
  })

t.test('no article is lost where all pages name one canonical address', async t => {
  const link = '<link rel="canonical" href="https://www.een.example/nieuws/altijd-dezelfde-brug">'
  const pages = pagesOf(700, 12).map(page => ({
    ...page,
    html: page.html.replace('</head>', `${link}</head>`),
  }))
  await storePages(database, pages, 'een.example')
  await normalise(t)
  const rows = await database.query(
    "select count(*)::int as n from articles join publishers using (publisher_no) where domain = 'een.example'",
  )
  t.match(rows, [{ n: 12 }])
})

t.test(
  'interstitials, refusals and other languages end as the outlet’s health shows them',
  async t => {
    const [cookies] = INTERSTITIAL_EXAMPLES.filter(({ kind }) => kind === 'cookie wall').slice(1)
    const italian =
      'Il ponte sulla Schelda rimarrà chiuso ai mezzi pesanti almeno fino a venerdì, ha detto il comune. '
    await storePages(
      database,
      [
        {
          path: '/a/wand',
          html: cookies?.html ?? '',
          title: ANNOUNCED,
          summary: 'De brug in Temse blijft dicht.',
        },
        {
          path: '/a/verboden',
          html: null,
          status: 403,
          title: 'Gemeente sluit zwembad in Weert voor een jaar',
        },
        { path: '/a/naamloos', html: null, status: 403, title: null },
        {
          path: '/a/ponte',
          html: `<p>${italian.repeat(5)}</p>`,
          title: 'Il ponte resta chiuso ai camion',
        },
      ],
      'muur.example',
    )
    await normalise(t)
    const states = await database.query(
      "select replace(url, 'https://www.muur.example', '') as path, state, reason from pages where host = 'www.muur.example' order by page_no",
    )
    t.same(states, [
      { path: '/a/wand', state: 'done', reason: 'cookie wall' },
      { path: '/a/verboden', state: 'done', reason: 'forbidden' },
      { path: '/a/naamloos', state: 'refused', reason: 'no-title' },
      { path: '/a/ponte', state: 'refused', reason: 'language' },
    ])
    const bodies = await database.query(
      "select body from article_texts where url like 'https://www.muur.example/%' order by url",
    )
    t.same(bodies, [{ body: null }, { body: 'De brug in Temse blijft dicht.' }])
    t.same(
      await database.query(
        "select kind, pages from outlet_blocks join outlets using (outlet_no) where domain = 'muur.example'",
      ),
      [{ kind: 'cookie wall', pages: 1 }],
    )
  },
)

t.test(
  'one text under many addresses of an outlet is an interstitial, whatever its words',
  async t => {
    const interstitial = `<html><head><title>Welkom</title></head><body><div><p>${'Voordat u verder gaat vragen wij u om even te kiezen hoe u deze krant wilt gebruiken. '.repeat(4)}</p></div></body></html>`
    await storePages(
      database,
      Array.from({ length: 12 }, (_, at) => ({
        path: `/x/${at}`,
        html: interstitial,
        title: `Burgemeester opent gymzaal ${at}`,
      })),
      'herhaling.example',
    )
    await normalise(t)
    const kept = await database.count(
      "article_texts where url like '%herhaling.example%' and body is not null",
    )
    t.ok(kept <= 2, `${kept} kept it`)
  },
)

t.test(
  'stored pages are called outlet by outlet in turn, at most a hundred of each at a time',
  async t => {
    const { database: own, pool } = await createTestPool(t)
    const greedy = await storePages(own, pagesOf(0, 150), 'greedy.example')
    const honest = await storePages(own, pagesOf(200, 3), 'honest.example')
    await own.query(
      "update pages set next_try_at = now() - interval '1 hour' where host like '%greedy%'",
    )
    await own.query(
      "update pages set next_try_at = now() - interval '1 minute' where host like '%honest%'",
    )
    const called = await callDuePages(pool)
    t.equal(called.length, 103)
    for (const page of honest) t.ok(called.indexOf(page) < 6, 'three of each come first')
    t.same(await callDuePages(pool), [], 'those must come to their end first')
    await own.query("update pages set state = 'done' where page_no = any ($1)", [
      called.slice(0, 60),
    ])
    const more = await callDuePages(pool)
    t.equal(
      more.length,
      150 + 3 - called.length,
      'as many as have come to their end, or as are left',
    )
    t.equal(new Set([...called, ...more]).size, greedy.length + honest.length)
  },
)

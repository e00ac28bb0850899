import t from 'tap'
import { createTestDatabase } from '../database.ts'
import { createFleet } from '../fleet.ts'
import { settle, storePages } from '../normaliser/stored.ts'

t.setTimeout(300_000)
const database = await createTestDatabase(t)

const OFFER = 'Lees elke dag het laatste nieuws uit uw eigen streek, nu een hele maand lang voor één euro.'
const pages = Array.from({ length: 14 }, (_, at) => {
  const title = `Gemeente opent zwembad nummer ${at}`
  const text = `<p>Het zwembad nummer ${at} gaat dinsdag open, zei de wethouder van de gemeente gisteren.</p><p>${OFFER}</p>`
  const html = `<html lang="nl"><head><title>${title}</title></head><body><article><h1>${title}</h1>${text}</article></body></html>`
  return { path: `/a/${at}`, html, title }
})

t.test('stored pages are read again: outlets learn, refused pages return, articles stay', async t => {
  const fleet = createFleet({ DATABASE_URL: database.url, NORMALISE_THREADS: '1' }, t)
  const numbers = await storePages(database, pages.slice(0, 7))
  // As an older version would have left them: it refused the first page, and knew no templates.
  await database.query("update pages set state = 'refused', reason = 'language' where page_no = $1", [
    String(numbers[0]),
  ])
  // Seven at a time: ten would teach the normaliser the template.
  for (const more of [[], pages.slice(7)]) {
    await storePages(database, more)
    const normaliser = await fleet.start('normaliser')
    await settle(database, 60_000)
    normaliser.process.kill('SIGTERM')
    await normaliser.exited
    await database.query('delete from outlet_templates')
  }
  await database.query("update article_texts set title = 'Een andere titel' where title = $1", [pages[5]!.title])
  const texts = () => database.query('select seq, title, body from article_texts order by seq')
  const before = await texts()

  const reread = async (...words: string[]) => JSON.parse(await fleet.script('reindex', '--pages', '--json', ...words))
  const trial = await reread('--dry-run')
  t.match(trial, { what: 'pages', pages: 14, different: { title: 1, text: 0 }, returned: 1, done: true })
  t.same(await database.query('select count(*)::int as n from outlet_templates'), [{ n: 0 }])

  t.match(await reread('--outlet', 'dagkoerier.example'), { pages: 14, different: { title: 1 }, returned: 1 })
  t.same(await database.query('select pages from outlet_templates'), [{ pages: 13 }])
  t.same(await texts(), before, 'no article has changed')
  t.same(await database.query("select page_no::text from pages where state = 'stored'"), [
    { page_no: String(numbers[0]) },
  ])

  const again = await reread()
  t.same(await database.query('select pages from outlet_templates'), [{ pages: 13 }], 'no page teaches twice')
  t.match(again, { pages: 13, different: { title: 1, date: 0, authors: 0, text: 13 }, returned: 0 })
  await t.rejects(fleet.script('reindex', '--pages', '--language', 'nl'), { code: 2, stderr: /--pages goes with/ })
})

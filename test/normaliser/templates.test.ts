import t from 'tap'
import { startFleet } from '../fleet.ts'
import { settle, storePages } from './stored.ts'

t.setTimeout(300_000)
const { database, fleet } = await startFleet(t, { NORMALISE_THREADS: '1' })

const OFFER = 'Lees elke dag het laatste nieuws uit uw eigen streek, nu een hele maand lang voor één euro.'

/** Pages of a series, each with a text of its own and the same offer behind it. */
const series = (from: number, count: number) =>
  Array.from({ length: count }, (_, at) => {
    const title = `Gemeente opent zwembad nummer ${from + at}`
    const sentences = [
      `Het zwembad nummer ${from + at} gaat dinsdag open, zei de wethouder van de gemeente gisteren.`,
      `Voor zwembad ${from + at} is tien jaar lang gespaard, en de bouw heeft twee jaar geduurd.`,
      OFFER,
    ]
    const text = sentences.map(sentence => `<p>${sentence}</p>`).join('')
    const html = `<html lang="nl"><head><title>${title}</title></head><body><article><h1>${title}</h1>${text}</article></body></html>`
    return { path: `/a/${from + at}`, html, title }
  })

t.test('the pages of an outlet teach which lines are no text, and teach no other outlet', async t => {
  await fleet.start('normaliser')
  const withOffer = async (domain: string) => {
    const rows = await database.query(
      `select count(*)::int as n from article_texts where body like '%' || $1 and url like '%' || $2 || '/%'`,
      [OFFER, domain],
    )
    return rows[0]?.n
  }
  await storePages(database, series(0, 10))
  await settle(database, 60_000)
  t.equal(await withOffer('dagkoerier.example'), 10, 'of ten pages, none has seen ten others')
  await storePages(database, series(20, 6))
  await storePages(database, series(40, 3), 'anders.example')
  await settle(database, 60_000)
  t.equal(await withOffer('dagkoerier.example'), 10, 'later texts end before the offer')
  t.equal(await withOffer('anders.example'), 3)
  const listed = (await fleet.script('outlets', 'list', '--json')).trim().split('\n')
  t.match(
    listed.map(line => JSON.parse(line)),
    [
      { domain: 'anders.example', template: { pages: 3, furniture: 0 } },
      { domain: 'dagkoerier.example', template: { pages: 16, furniture: 1 } },
    ],
  )
  t.match(await fleet.script('outlets', 'list'), /text page 100 %, 1 repeated line left out/)
})

t.test('explain names the lines that were left out', async t => {
  const said = await fleet.script('explain', 'https://www.dagkoerier.example/a/20')
  t.match(said, /left out, as many pages of the outlet hold it: Lees elke dag/)
})

import t from 'tap'
import { parsePage } from '../markup/tree.ts'
import { readMetadata } from '../metadata/metadata.ts'
import { dateChoice } from './published.ts'

const NOW = new Date('2026-11-21T12:00:00Z')
const HEADLINE = 'Brug over de Maas dicht voor al het verkeer'
const PROSE = `<p>${'De brug blijft tot het voorjaar dicht, zegt de gemeente. '.repeat(4)}</p>`

/** The day that a page without structured data shows for its article. */
function dayOf(body: string, lang = 'nl'): string | null {
  const html = `<html lang="${lang}"><head><title>${HEADLINE}</title></head><body>${body}</body></html>`
  const meta = readMetadata(parsePage(html), 'https://www.dagkoerier.example/artikel/brug-dicht')
  const found = dateChoice(meta, null, { timeZone: 'Europe/Amsterdam' }, '', NOW)?.value ?? null
  return found === null ? null : new Intl.DateTimeFormat('sv-SE', { timeZone: 'Europe/Amsterdam' }).format(found)
}
const behind = (markup: string) => dayOf(`<h1>${HEADLINE}</h1>${markup}${PROSE}`)

t.test('a label in the line before a date tells its meaning', async t => {
  t.equal(behind('<dl><dt>Bijgewerkt</dt><dd>4 november 2026</dd></dl>'), null)
  for (const label of ['Gepubliceerd', 'Publié le', 'Veröffentlicht', 'Publiziert am', 'Verëffentlecht', 'Posted']) {
    const listed = `<ul><li>Laatst gewijzigd</li><li>4 november 2026</li><li>${label}</li><li>3 november 2026</li></ul>`
    t.equal(behind(listed), '2026-11-03', label)
  }
  t.equal(behind('<p>Gepubliceerd in Maastricht</p><p>3 november 2026</p>'), '2026-11-03')
})

t.test('words before a marked date count as well as its class name', async t => {
  t.equal(behind('<p>Bijgewerkt: <time datetime="2026-11-04T09:00:00Z">4 november</time></p>'), null)
  const both =
    '<p>Mis à jour le <time datetime="2026-11-04T09:00Z">4 novembre</time>, publié le <time datetime="2026-11-03T09:00Z">3 novembre</time></p>'
  t.equal(behind(both), '2026-11-03')
})

t.test('a date that calls itself the publication comes before one that does not', async t => {
  t.equal(behind('<p><time>2 januari 2026</time></p><p>Gepubliceerd: 3 november 2025</p>'), '2025-11-03')
})

t.test('the time of a change that a theme hides in the byline is not the dateline', async t => {
  const hidden =
    '<div class="post-meta">Jan Smit <span class="updated">2026-11-07T10:10:52+01:00</span> <span>3 november 2026</span></div>'
  t.equal(behind(hidden), '2026-11-03')
  t.equal(
    behind('<div>door Jan Smit, <time class="updated">3 november 2026</time></div>'),
    '2026-11-03',
    'hAtom knows no other class',
  )
})

t.test('the date of a quotation is not the article’s', async t => {
  const lead = '<p>Kort.</p>'.repeat(4)
  t.equal(behind(`${lead}<blockquote>Posted by Jan Smit on Monday, November 2, 2026</blockquote>`), null)
  t.equal(behind('<div>— Jan Smit (@jansmit) 2 november 2026</div>'), null)
  t.equal(behind('<p>Soldaten op wacht bij de oude brug (Maastricht, 6-12-2010)</p>'), null)
  t.equal(behind('<p>Foto: Jan Smit, 6-12-2010</p>'), null)
})

t.test('a box named for its byline is the article’s, with any other words in its name', async t => {
  t.equal(dayOf(`<div class="teaser_text_meta">Jan Smit / 03.11.2026 / 09:30</div><h1>${HEADLINE}</h1>`), '2026-11-03')
  const teaser = '<div class="teaser"><h3>Een ander bericht</h3><p>9 november 2026</p></div>'
  t.equal(dayOf(`<h1>${HEADLINE}</h1>${PROSE.repeat(4)}${teaser}`), null)
})

t.test('where the page tells the headline once more, the date beside it counts', async t => {
  const box = (inner: string) => `<main><h1>${HEADLINE}</h1>${PROSE.repeat(15)}</main><aside>${inner}</aside>`
  t.equal(dayOf(box(`<p>${HEADLINE}</p><p>Wat er gebeurt.</p><p>3 november 2026</p>`)), '2026-11-03')
  t.equal(dayOf(box(`<p>${HEADLINE} 3-11-2026 - 10:24</p>`)), '2026-11-03')
  t.equal(dayOf(box('<p>Een heel ander bericht over de Maas</p><p>9 november 2026</p>')), null)
  const dateFirst = `<p>3 november 2026</p><p>${HEADLINE}</p><p>2 november 2026</p><p>Een ander bericht over iets</p>`
  t.not(dayOf(box(dateFirst)), '2026-11-02', 'a list whose dates stand before what they date')
})

t.test('a line of a date and nothing else may stand further off', async t => {
  const far = (line: string) => dayOf(`<h1>${HEADLINE}</h1>${'<p>Kort.</p>'.repeat(20)}<div>${line}</div>${PROSE}`)
  t.equal(far('op dinsdag 3 november 2026 om 10:30 uur (reageer)'), '2026-11-03')
  t.equal(far('am Dienstag, 03.11.2026 - 10:30'), '2026-11-03')
  t.equal(far('mardi 3 novembre 2026 à 10h30'), '2026-11-03')
  t.equal(far('Op 3 november 2026 ging de brug dicht'), null)
  t.equal(far('Dit bericht werd gepubliceerd op 3 november 2026 door Jan Smit'), '2026-11-03')
  const prose =
    'De aannemer, die al jaren aan bruggen over de Maas werkt en van wie vorig jaar een boek is verschenen op'
  t.equal(
    far(`${prose} 3 november 2025, zegt dat er geen haast bij is en dat niemand zich zorgen hoeft te maken.`),
    null,
  )
})

t.test('3/4/2026 is read in the order that the page’s other dates show, else day first', async t => {
  const byline = '<p>03/04/2026</p>'
  const elsewhere = (date: string) => `<h1>${HEADLINE}</h1>${byline}${PROSE}<div>Agenda ${date} en verder</div>`
  t.equal(behind(byline), '2026-04-03')
  t.equal(dayOf(elsewhere('11/23/2025')), '2026-03-04')
  t.equal(dayOf(elsewhere('23/11/2025'), 'en-US'), '2026-04-03')
  t.equal(dayOf(elsewhere('niets'), 'en-US'), '2026-03-04')
})

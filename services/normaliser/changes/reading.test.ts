import t from 'tap'
import { changesBetween, readingOf } from './reading.ts'

const TEXT = `De gemeenteraad van Delft heeft dinsdag over de nieuwe brug gestemd.
De wethouder zei dat de bouw twintig miljoen euro gaat kosten. Volgens hem begint het werk in mei.
Lees ook: meer nieuws`
const reading = (text: string, title = 'Delft bouwt een brug', modified: string | null = null) =>
  readingOf(title, text, modified)
const changed = (...after: Parameters<typeof reading>) => changesBetween(reading(TEXT), reading(...after))

t.test('case, accents, spaces, quotes and short lines are no change', async t => {
  t.strictSame(changed(TEXT), [])
  t.strictSame(changed(TEXT.toUpperCase(), '“Delft  bouwt een brug”'), [])
  t.strictSame(changed(TEXT.replace('Lees ook: meer nieuws', '12 reacties\nFoto: archief')), [])
})

t.test('a new title and a new, changed or removed sentence are changes', async t => {
  t.strictSame(changed(TEXT, 'Delft bouwt geen brug'), ['title'])
  t.strictSame(changed(TEXT.replace('twintig', 'dertig')), ['text'])
  t.strictSame(changed(`${TEXT}\nDe oppositie wil dat het college er nog eens naar kijkt.`), ['text'])
  t.strictSame(changed(TEXT.replace(/ Volgens hem.*/, ''), 'Delft bouwt nu'), ['title', 'text'])
})

t.test('a note on a correction is recognised in each language, and once', async t => {
  for (const note of [
    'Correctie: in dit stuk stond eerst een verkeerd bedrag.',
    'RECTIFICATIE (3 november): het gaat om dertig miljoen.',
    'In een eerdere versie van dit artikel stond twintig miljoen.',
    'Correction : le montant est de trente millions.',
    'Une version précédente de cet article donnait un autre montant.',
    'Korrektur: Es sind dreißig Millionen Euro, nicht zwanzig.',
    'In einer früheren Version hieß es zwanzig Millionen.',
    'An earlier version of this article gave another amount.',
    'Correction (3 Nov.): the amount is thirty million, not twenty.',
    'Richtegstellung: Et sinn drësseg Milliounen.',
  ]) {
    t.ok(changed(`${TEXT}\n${note}`).includes('correction'), note)
    const corrected = reading(`${TEXT}\n${note}`)
    t.notOk(
      changesBetween(corrected, reading(`${TEXT}\n${note}\nEn nog een zin die er later bij kwam.`)).includes(
        'correction',
      ),
    )
  }
  t.strictSame(changed(`${TEXT}\nEen correctie van de begroting volgt volgens hem in het najaar.`), ['text'])
})

t.test('a later time of change is noted, and is no other text', async t => {
  const [early, late] = ['2026-11-03T10:00:00Z', '2026-11-03T12:00:00+01:00']
  t.strictSame(changesBetween(reading(TEXT, undefined, early), reading(TEXT, undefined, late)), ['modified'])
  t.strictSame(changesBetween(reading(TEXT, undefined, late), reading(TEXT, undefined, early)), [])
  t.strictSame(changed(TEXT, undefined, late), [], 'none was known')
  t.strictSame(changesBetween(reading(TEXT, undefined, early), reading(TEXT, undefined, 'soon')), [])
})

t.test('a page with another title and no sentence in common shows something else', async t => {
  t.strictSame(changed('Deze pagina gaat over iets heel anders dan daarvoor.', 'Weer'), ['replaced'])
  t.strictSame(changed('Deze pagina gaat over iets heel anders dan daarvoor.'), ['text'])
})

t.test('an endless text is read up to a limit', async t => {
  const long = Array.from({ length: 5_000 }, (_, at) => `Dit is zin nummer ${at} van een lang verslag.`).join(' ')
  t.equal(reading(long).sentences.length, 4_000)
})

t.test('a title is one that Postgres can store', async t => {
  const { title } = reading(TEXT, `a\0b${'x'.repeat(498)}\ud83d\ude00`)
  t.equal(title.length, 500)
  t.ok(title.isWellFormed() && !title.includes('\0'))
})

import t from 'tap'
import { examples } from '#test/examples'
import { stopwatch } from '#test/turns'
import { findDates, readDate, type WrittenDate } from './written.ts'

/** Shows a date as it was read: `2026-11-03 14:05:00.000 +60`. Missing parts are left out. */
function shown(date: WrittenDate | null): string | null {
  if (date === null) return null
  const two = (n: number) => String(n).padStart(2, '0')
  const day = `${date.year}-${two(date.month)}-${two(date.day)}`
  if (date.time === null) return day
  const { hour, minute, second, millisecond } = date.time
  const zone = date.offset === null ? '' : ` ${date.offset}`
  return `${day} ${two(hour)}:${two(minute)}${second + millisecond > 0 ? `:${two(second)}.${millisecond}` : ''}${zone}`
}

/** Tables by kind. A row has a date as it reads, and texts that state it, separated by `¦`. */
const tables = examples('normaliser/dates')
for (const [name, table] of tables) {
  t.test(`decision 36: dates as they are written: ${name}`, async t => {
    for (const [read = '', texts = ''] of table)
      for (const text of texts.split(' ¦ ')) t.equal(shown(readDate(text)) ?? 'no date', read, text)
  })
}

t.test('months by their names in every language', async t => {
  const years = [
    'januari februari maart april mei juni juli augustus september oktober november december',
    'janvier février mars avril mai juin juillet août septembre octobre novembre décembre',
    'Januar Februar März April Mai Juni Juli August September Oktober November Dezember',
    'Januar Februar Mäerz Abrëll Mee Juni Juli August September Oktober November Dezember',
    'January February March April May June July August September October November December',
    'jan. feb. mrt. apr. mei jun. jul. aug. sep. okt. nov. dec.',
    'janv. févr. mars avr. mai juin juil. août sept. oct. nov. déc.',
  ]
  for (const year of years) {
    for (const [index, month] of year.split(' ').entries())
      t.equal(readDate(`17 ${month} 2026`)?.month, index + 1, month)
  }
})

t.test('a change is told from the publication', async t => {
  const found = findDates('Publié le 3 mai 2026 à 14h05, mis à jour le 4 mai 2026 à 10h')
  t.same(
    found.map(date => [shown(date), date.published, date.modified]),
    [
      ['2026-05-03 14:05', true, false],
      ['2026-05-04 10:00', false, true],
    ],
  )
  const changes = [
    'Bijgewerkt op',
    'Laatste update:',
    'Gewijzigd',
    'Updated',
    'Last modified',
    'Aktualisiert am',
    'Zuletzt geändert:',
    'Aanvulling,',
    'Anmerkung der Redaktion,',
    'Note de la rédaction,',
    'Editor’s note:',
    'Nodrag:',
    'Modifié le',
    'Mis à jour le',
    'MAJ le',
    'Actualisé :',
    'Aktualiséiert de',
    'Lescht Ännerung:',
  ]
  for (const label of changes)
    t.equal(findDates(`${label} 3-11-2026 14:05`)[0]?.modified, true, label)
  const publications = [
    'Gepubliceerd op',
    'Geplaatst:',
    'Aangemaakt op',
    'Verschenen op',
    'Posted on',
    'Published',
    'Veröffentlicht am',
    'Erstellt:',
    'Publiziert:',
    'Publié le',
    'Mis en ligne le',
    'Créé le',
    'Publizéiert de',
  ]
  for (const label of publications) {
    t.match(findDates(`${label} 3-11-2026 14:05`)[0], { published: true, modified: false }, label)
  }
})

t.test('a price or a word behind a date is neither time nor zone', async t => {
  t.equal(shown(readDate('3 mei 2026 12.50 euro')), '2026-05-03')
  t.equal(shown(readDate('3 juli 2026 om 14:05 met Jan Smit')), '2026-07-03 14:05')
  t.equal(shown(readDate('3 juillet 2026 à 14h05 est arrivé')), '2026-07-03 14:05')
})

t.test('American order where the page says that it is American', async t => {
  t.equal(shown(readDate('3/4/2026')), '2026-04-03')
  t.equal(shown(readDate('3/4/2026', { monthFirst: true })), '2026-03-04')
})

t.test('hostile texts take no time', async t => {
  const took = stopwatch()
  for (const part of ['1 ', '1.', 'a', '3 november ', '2026-']) {
    const text = part.repeat(100_000 / part.length)
    findDates(text)
    readDate(text)
  }
  t.ok(took() < 3_000, `${took()} ms`)
})

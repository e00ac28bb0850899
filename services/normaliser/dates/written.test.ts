import t from 'tap'
import { stopwatch } from '../../../test/turns.ts'
import { findDates, readDate, type WrittenDate } from './written.ts'

/** `2026-11-03 14:05:00.000 +60`: a date as it was read, `-` for parts that are missing. */
function shown(date: WrittenDate | null): string | null {
  if (date === null) return null
  const two = (n: number) => String(n).padStart(2, '0')
  const day = `${date.year}-${two(date.month)}-${two(date.day)}`
  if (date.time === null) return day
  const { hour, minute, second, millisecond } = date.time
  const zone = date.offset === null ? '' : ` ${date.offset}`
  return `${day} ${two(hour)}:${two(minute)}${second + millisecond > 0 ? `:${two(second)}.${millisecond}` : ''}${zone}`
}

/** By kind: how a date reads, and texts that say it. */
const tables: Record<string, [read: string, texts: string][]> = {
  'RFC 3339 and ISO 8601': [
    ['2026-11-03 14:05 60', '2026-11-03T14:05:00+01:00 ¦ 2026-11-03T14:05:00+0100 ¦ 2026-11-03T14:05:00 01:00'],
    ['2026-11-03 14:05 60', '2026-11-03T14:05+01:00[Europe/Brussels] ¦ 2026-11-03 14:05:00 +0100'],
    ['2026-11-03 14:05:33.123 0', '2026-11-03T14:05:33.123Z'],
    ['2026-11-03 14:05:00.123 -300', '2026-11-03T14:05:00.123456789-05:00'],
    ['2026-11-03 14:05', '2026-11-03T14:05 ¦ 2026-11-03 14:05:00.0 ¦ 20261103 14:05'],
    ['2026-11-03 14:05 0', '20261103T140500Z'],
    ['2026-11-03', '2026-11-03 ¦ 20261103 ¦ 2026-11-03T25:00:00Z'],
    ['2026-11-03 23:59:59.0 0', '2026-11-03T23:59:60Z'],
    ['no date', '2026-02-29 ¦ 2026-13-01T00:00:00Z'],
  ],
  'RFC 822 and its decay': [
    ['2026-11-03 14:05 60', 'Tue, 03 Nov 2026 14:05:00 +0100 ¦ Tue,3 Nov 2026 14:05:00+0100 ¦ 2026-11-03T14:05+1'],
    ['2026-11-03 14:05 60', 'Tue, 3 Nov 26 14:05 CET ¦ Di, 03 Nov 2026 14:05:00 MEZ'],
    ['2026-11-03 14:05 60', 'Tue Nov 03 2026 14:05:00 GMT+0100 (CET) ¦ Tue Nov  3 14:05:00 CET 2026'],
    ['2026-11-03 14:05 60', 'di, 03 nov 2026 14:05:00 +0100 ¦ mar., 03 nov. 2026 14:05:00 +0100'],
    ['2026-11-03 14:05 330', 'Tue, 03 Nov 2026 14:05:00+5:30'],
    ['2026-11-03 14:05 -180', 'Tue, 03 Nov 2026 14:05:00 -3:00'],
    ['2026-11-03 14:05', '3 november 2026, 14:05-5:30 ¦ Tue, 03 Nov 2026 14:05:00 XYZ'],
    ['2026-11-03 14:05 0', 'Fri, 03 Nov 2026 14:05:00 GMT'],
    ['2026-07-15 14:05 120', 'Wed, 15 Jul 2026 14:05:00 CEST ¦ Mi., 15. Juli 2026 14:05:00 MESZ'],
    ['2026-11-03 13:05 0', '1793711100'],
    ['2026-11-03 13:05:00.123 0', '1793711100123'],
  ],
  Dutch: [
    ['2026-11-03 14:05', '3 november 2026 14.05 uur ¦ 3 nov. 2026, 14:05'],
    ['2026-11-03 14:05', 'Gepubliceerd op dinsdag 3 november 2026 om 14:05 ¦ 03-11-2026 14:05'],
    ['2026-03-01 14:05', 'zo 1 mrt 2026, 14u05'],
    ['2026-11-03', '3/11/2026'],
    ['no date', 'Vandaag, 14:05'],
  ],
  French: [
    ['2026-11-03 14:05', 'Publié le 3 novembre 2026 à 14h05 ¦ 03/11/2026 à 14:05'],
    ['2026-08-01 09:00', 'le 1er août 2026 à 9h'],
    ['2026-02-03 14:05', 'mardi 3 févr. 2026 - 14:05'],
    ['2026-12-15', '15 décembre 2026'],
    ['no date', 'hier à 14h05'],
  ],
  German: [
    ['2026-11-03 14:05', 'Dienstag, 3. November 2026, 14:05 Uhr'],
    ['2026-11-03', '3. November 2026 ¦ 03.11.26'],
    ['2026-11-03 14:00', '03.11.2026, 14 Uhr'],
    ['2026-03-03 14:05', '14.05 Uhr, 3. März 2026'],
    ['2026-01-03', 'Stand: 3. Jänner 2026'],
    ['no date', 'vor 3 Stunden'],
  ],
  Luxembourgish: [
    ['2026-11-03 14:05', 'Dënschdeg, 3. November 2026 um 14:05 Auer'],
    ['no date', 'Haut um 14:05'],
  ],
  English: [
    ['2026-11-03 14:05', 'Nov. 3, 2026 at 2:05 p.m.'],
    ['2026-11-03 00:05', 'November 3, 2026 12:05 AM'],
    ['2026-03-13', 'Friday 13th March 2026'],
    ['2026-12-31', '12/31/2026 ¦ 12-31-2026'],
  ],
  'what is no date': [
    ['no date', '10.0.1.2 ¦ versie 3.11.2026.1 ¦ 12.31.2026 ¦ 10.15.20 ¦ 31/02/2026 ¦ november 2026 ¦ 2026 ¦  ¦ 0'],
  ],
}
for (const [name, table] of Object.entries(tables)) {
  t.test(`decision 36: dates as they are written: ${name}`, async t => {
    for (const [read, texts] of table)
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
    ...[
      'Bijgewerkt op',
      'Laatste update:',
      'Gewijzigd',
      'Updated',
      'Last modified',
      'Aktualisiert am',
      'Zuletzt geändert:',
    ],
    ...['Modifié le', 'Mis à jour le', 'MAJ le', 'Actualisé :', 'Aktualiséiert de', 'Lescht Ännerung:'],
  ]
  for (const label of changes) t.equal(findDates(`${label} 3-11-2026 14:05`)[0]?.modified, true, label)
  const publications = [
    ...['Gepubliceerd op', 'Geplaatst:', 'Aangemaakt op', 'Verschenen op', 'Posted on', 'Published'],
    ...['Veröffentlicht am', 'Erstellt:', 'Publiziert:', 'Publié le', 'Mis en ligne le', 'Créé le', 'Publizéiert de'],
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

import t from 'tap'
import { stopwatch } from '../../test/turns.ts'
import { agenciesOf, agencyEvidence, isOfAgencies } from './agencies.ts'

const text = 'De brug over de Maas blijft een week dicht, zegt de waterdienst.'
const of = (body: string, authors: string[] = []) => agenciesOf(agencyEvidence({ authors, body }))

t.test('an agency is told with evidence alone: by-line, dateline, either end', async t => {
  const told: [string, string[]][] = [
    ['BRUSSEL (Belga) - ', ['Belga']],
    ['(Belga) ', ['Belga']],
    ['PARIS, 3 mai (AFP) - ', ['AFP']],
    ['New York/Frankfurt (dpa-AFX) – ', ['dpa']],
    ['AFP - ', ['AFP']],
    ['LUXEMBURG (dpa/lrs): ', ['dpa']],
    ['Het persbureau Belga (Belga) - ', []],
    ['Die Nachrichtenagentur dpa (dpa) - ', []],
    ['Agence Belga (Belga) - ', []],
    ['Belga - dat is een persbureau - ', ['Belga']],
    ['De ap (app) - ', []],
    ['Volgens ANP ', []],
  ]
  for (const [head, agencies] of told) t.same(of(`${head}${text}`), agencies, head)
  for (const [end, agencies] of [
    ['(Belga)', ['Belga']],
    ['ANP/AFP', ['ANP', 'AFP']],
    ['(APA, 28.4.2016)', ['APA']],
    ['(mit Material von dpa)', []],
    ['(dpa/lrs, red)', ['dpa']],
    ['Bron: ANP', ['ANP']],
    ['[Keystone-SDA]', ['Keystone-SDA']],
    ['Foto: ANP', []],
    ['(foto Belga)', []],
    ['© AFP', []],
    ['(AP Photo/Jan Smit)', []],
    ['Jan Smit/AFP', []],
    ['(Jan Smit/Reuters)', []],
    ['de pa', []],
  ] as const) {
    t.same(of(`${text}\n\n${text}\n\n${text}\n\n${end}`), agencies, end)
    if (/^[[(]/.test(end)) t.same(of(`${text} ${end}`), agencies, `after a sentence: ${end}`)
  }
  const within = (...paragraphs: string[]) => of([text, text, ...paragraphs].join('\n\n'))
  t.same([of(`ANP\n\n${text}`), within('ANP')], [['ANP'], ['ANP']])
  t.same(within(text, 'ANP', text, text, text), [], 'neither of the first two, nor of the last three')
  t.same(within(`BRUSSEL (Belga) - ${text}`, text, text, text), [], 'a dateline opens an article')
  t.match(agencyEvidence({ authors: [], body: `BRUSSEL (Belga) - ${text} (ANP)` }), [
    { agency: 'Belga', signal: 'dateline', words: 'BRUSSEL (Belga) -' },
    { agency: 'ANP', signal: 'either end', words: '(ANP)' },
  ])
  t.equal(agencyEvidence({ authors: [], body: 'ANP' }).length, 1, 'said once')
  const long = (length: number) => `ANP/${'1'.repeat(length - 4)}`
  t.same(['ANP', 'Jan', 'red', long(120), long(121)].map(isOfAgencies), [true, false, false, true, false])
  t.same(
    [120, 121].map(length => of(text, [long(length)])),
    [['ANP'], []],
  )
  t.same(within(text, `Brug ${long(120)}`), [], 'the end of a longer paragraph')
  t.same(of(`${text}\n\n${'x\n\n'.repeat(9)}ANP\n\n${'x\n\n'.repeat(9)}`), [], 'in the middle')
  for (const [byline, agencies] of [
    ['ANP', ['ANP']],
    ['Jan Smit en ANP', ['ANP']],
    ['Par Le Figaro et AFP', ['AFP']],
    ['Von dpa , unserer Redaktion', ['dpa']],
    ['Meg Kinnard and Errin Haines, Associated Press', ['AP']],
    ['Agence France-Presse', ['AFP']],
    ['Belga/AFP', ['Belga', 'AFP']],
    ['Pa Salt', []],
    ['ap', []],
    ['Ats de Vries', []],
    ['Reuters Instituut', []],
  ] as const) {
    t.same(of(text, [byline]), agencies, byline)
  }
  const took = stopwatch()
  for (const part of ['Ap ', '(dpa', 'De la ', 'door ', '/ap', '1. ']) of(part.repeat(50_000), [part.repeat(50_000)])
  t.ok(took() < 2_000, 'hostile texts take no time')
})

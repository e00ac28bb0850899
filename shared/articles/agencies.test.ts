import t from 'tap'
import { stopwatch } from '#test/turns'
import { agenciesOf, agencyEvidence, isOfAgencies } from './agencies.ts'
import EXAMPLES from './bylines.json' with { type: 'json' }

type Row = [string, string[]]

const text = 'De brug over de Maas blijft een week dicht, zegt de waterdienst.'
const of = (body: string, authors: string[] = []) => agenciesOf(agencyEvidence({ authors, body }))

t.test('an agency is told with evidence alone: by-line, dateline, either end', async t => {
  for (const [head, agencies] of EXAMPLES.heads as Row[])
    t.same(of(`${head}${text}`), agencies, head)
  for (const [end, agencies] of EXAMPLES.ends as Row[]) {
    t.same(of(`${text}\n\n${text}\n\n${text}\n\n${end}`), agencies, end)
    if (/^[[(]/.test(end)) t.same(of(`${text} ${end}`), agencies, `after a sentence: ${end}`)
  }
  const within = (...paragraphs: string[]) => of([text, text, ...paragraphs].join('\n\n'))
  t.same([of(`ANP\n\n${text}`), within('ANP')], [['ANP'], ['ANP']])
  t.same(
    within(text, 'ANP', text, text, text),
    [],
    'neither of the first two, nor of the last three',
  )
  t.same(within(`BRUSSEL (Belga) - ${text}`, text, text, text), [], 'a dateline opens an article')
  t.match(agencyEvidence({ authors: [], body: `BRUSSEL (Belga) - ${text} (ANP)` }), [
    { agency: 'Belga', signal: 'dateline', words: 'BRUSSEL (Belga) -' },
    { agency: 'ANP', signal: 'either end', words: '(ANP)' },
  ])
  t.equal(agencyEvidence({ authors: [], body: 'ANP' }).length, 1, 'said once')
  const long = (length: number) => `ANP/${'1'.repeat(length - 4)}`
  t.same(['ANP', 'Jan', 'red', long(120), long(121)].map(isOfAgencies), [
    true,
    false,
    false,
    true,
    false,
  ])
  t.same(
    [120, 121].map(length => of(text, [long(length)])),
    [['ANP'], []],
  )
  t.same(within(text, `Brug ${long(120)}`), [], 'the end of a longer paragraph')
  t.same(of(`${text}\n\n${'x\n\n'.repeat(9)}ANP\n\n${'x\n\n'.repeat(9)}`), [], 'in the middle')
  for (const [byline, agencies] of EXAMPLES.bylines as Row[]) {
    t.same(of(text, [byline]), agencies, byline)
  }
  const took = stopwatch()
  for (const part of ['Ap ', '(dpa', 'De la ', 'door ', '/ap', '1. '])
    of(part.repeat(50_000), [part.repeat(50_000)])
  t.ok(took() < 2_000, 'hostile texts take no time')
})

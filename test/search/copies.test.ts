import t from 'tap'
import { copyWords, judge, leastCommon } from '#shared/copies/shingles'
import { stopwatch } from '#test/turns'
import { generatedTexts, IGNORED, sentence, tryCopies } from './copy-histories.ts'

t.test(
  'groups are the stars of the definition, whoever finds them, ends, begins again, or leaves',
  t => tryCopies(t, generatedTexts(70), 560),
)

t.test('at most 1 in 1,000 pairs at exactly 0.6 is no candidate', async t => {
  for (const shingles of [44, 56, 57, 100, 400, 1_600, 1_700, 50_000]) {
    const common = Math.ceil(shingles * 0.6)
    // The chance of fewer common samples, in logarithms.
    let missed = 0
    let term = common * Math.log(0.75)
    for (let n = 0; n < leastCommon(shingles); n++) {
      missed += Math.exp(term)
      term += Math.log((common - n) / (n + 1) / 3)
    }
    t.ok(missed <= 0.001, `${shingles} shingles: ${missed}`)
  }
  t.equal(leastCommon(56), 2, 'the shortest text')
  t.ok(leastCommon(400) > 35, 'a line that an outlet repeats makes no candidate of a long text')
})

t.test(
  'lines of agencies, other articles and rights are no text; text that names them is',
  async t => {
    const drops = (line: string) => copyWords(line).length === 0
    for (const line of [
      ...IGNORED,
      '– Belga –',
      'dpa-AFX',
      '(c) Reuters',
      'Source: AFP, Belga.',
      'Lies och: eng Bréck',
      'Read more: bridges',
    ]) {
      t.ok(drops(line), line)
    }
    for (const line of [
      'Belga sprak met de minister',
      'ANP en AFP fuseren',
      'Lees ookgetuigen',
      'apapapapapapapapapapapapapap',
      `Lees ook ${'x '.repeat(120)}`,
    ]) {
      t.notOk(drops(line), line)
    }
    const took = stopwatch()
    copyWords(
      Array(2_000)
        .fill(`${'ap ap,afp/'.repeat(19)}!`)
        .join('\n'),
    )
    t.ok(took() < 2_000, 'no line takes long')
    t.equal(judge(sentence(59)), null)
    t.equal(judge('de trein rijdt '.repeat(100)), null, 'the same again and again')
  },
)

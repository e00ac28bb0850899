import fc from 'fast-check'
import t from 'tap'
import BOUNDS from './bounds.json' with { type: 'json' }
import EXAMPLES from './instants.json' with { type: 'json' }
import { ceilMs, lastMs, parseDateTime, parseDay, parseInstant, precedes } from './instants.ts'

const iso = (text: string) => {
  const instant = parseInstant(text)
  return instant && new Date(instant.ms).toISOString() + (instant.beyond && `+${instant.beyond}`)
}

for (const [text, expected] of EXAMPLES.good as [string, string][]) {
  t.test(`decision 12: ${text} is read`, async t => {
    t.equal(iso(text), expected)
  })
}

for (const text of EXAMPLES.bad) {
  t.test(`decision 12: ${text} is refused`, async t => {
    t.equal(parseInstant(text), null)
  })
}

t.test(
  'decision 12: every day and every time of the years 1900 to 2100 is read as Date reads it',
  async t => {
    const dates = fc.date({
      min: new Date('1900-01-01'),
      max: new Date('2100-12-31T23:59:59.999Z'),
      noInvalidDate: true,
    })
    fc.assert(
      fc.property(dates, date => {
        const text = date.toISOString()
        t.equal(parseDateTime(text)?.ms, date.getTime())
        t.equal(parseDay(text.slice(0, 10))?.ms, new Date(text.slice(0, 10)).getTime())
      }),
    )
  },
)

t.test(
  'contract, rule 3: a bound with more digits than articles have is applied exactly',
  async t => {
    const fine = parseInstant('2024-05-01T10:00:00.0001Z')!
    t.equal(ceilMs(fine), fine.ms + 1, 'a lower bound begins with the next millisecond')
    t.equal(
      fine.ms,
      new Date('2024-05-01T10:00:00Z').getTime(),
      'an upper bound ends with this one',
    )
  },
)

t.test('decision 12: a day reaches to the next midnight', async t => {
  t.equal(new Date(lastMs(parseDay('2024-02-28')!)).toISOString(), '2024-02-28T23:59:59.999Z')
})

t.test('a bound that precedes another one is told', async t => {
  for (const { before, after, expected } of BOUNDS)
    t.equal(precedes(parseInstant(before)!, parseInstant(after)!), expected, `${before} ${after}`)
})

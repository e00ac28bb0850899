import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { hasBit } from '../segment/bitmap.ts'
import { createNumberSet } from './number-set.ts'

t.test('a set holds what was added, as a list and as a bitmap', async () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.nat(5_000), { maxLength: 2_000, minLength: 0 }), fc.nat(20), (numbers, extra) => {
      const set = createNumberSet()
      for (const no of numbers) {
        set.add(no)
        set.add(no)
      }
      const highest = Math.max(0, ...numbers) + extra
      const bits = set.bitmap(highest)
      const wanted = new Set(numbers)
      assert.equal(set.count, numbers.length)
      for (let no = 0; no <= highest; no++) assert.equal(hasBit(bits, no), wanted.has(no), `${no}`)
    }),
    { numRuns: 200 },
  )
})

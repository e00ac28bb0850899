import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { createGrowingPostings } from './memory-segment.ts'

const TERMS = 3

t.test(
  'lists are whole whenever they are asked for, and what was given out stays as it was',
  async () => {
    fc.assert(
      fc.property(
        fc.array(fc.record({ term: fc.nat(TERMS - 1), asks: fc.boolean(), twice: fc.boolean() }), {
          minLength: 100,
          maxLength: 400,
        }),
        steps => {
          const lists = createGrowingPostings()
          const plain: number[][] = Array.from({ length: TERMS }, () => [])
          const given: { found: Uint16Array; expected: number[] }[] = []
          steps.forEach(({ term, asks, twice }, doc) => {
            assert.equal(lists.add(term, doc), true)
            if (twice) assert.equal(lists.add(term, doc), false)
            plain[term]!.push(doc)
            if (asks) given.push({ found: lists.docs(term), expected: [...plain[term]!] })
          })
          for (const { found, expected } of given) assert.deepEqual([...found], expected)
          plain.forEach((expected, term) => void assert.deepEqual([...lists.docs(term)], expected))
          assert.deepEqual([...lists.docs(1_000_000)], [])
        },
      ),
    )
  },
)

import t from 'tap'
import { LONGEST_WORD } from './tokens.ts'
import { fits, LEAST_LETTERS, wildcardTest } from './wildcard.ts'

t.test(
  'a word of an expression is itself, and a wildcard all words that have its part',
  async t => {
    const words = ['trein', 'treinen', 'goederentrein', 'goederentreinen', 'tram']
    for (const [asked, fitting] of [
      ['trein', words.slice(0, 1)],
      ['trein*', words.slice(0, 2)],
      ['*trein', ['trein', 'goederentrein']],
      ['*trein*', words.slice(0, 4)],
    ] as const) {
      t.same(
        words.filter(word => fits(asked, word)),
        fitting,
        asked,
      )
      t.notOk(fits(asked, undefined), 'where there is no word')
    }
  },
)

t.test('no wildcard stands for a word that is too long to be a term', async t => {
  const long = 'a'.repeat(LONGEST_WORD)
  t.equal(LEAST_LETTERS, 3)
  t.ok(wildcardTest('aaa*')(long))
  t.notOk(wildcardTest('aaa*')(`${long}a`))
})

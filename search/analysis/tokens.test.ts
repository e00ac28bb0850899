import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { CHARACTER } from '../../test/characters.ts'
import { stopwatch } from '../../test/turns.ts'
import { parseBoolean } from '../query/parse.ts'
import { wordList, wordListOf } from './index.ts'
import { foldAny, foldName, foldWord, hasLetterOrDigit, wordRuns, words } from './tokens.ts'
import WORDS from './words.json' with { type: 'json' }

t.test('decision 16: one way to cut a text into words', async t => {
  for (const [text = '', ...expected] of WORDS.cut)
    t.same(words(text), expected, JSON.stringify(text))
})

t.test(
  'decision 16: what is folded folds to itself, and words with places are those of the text',
  async () => {
    fc.assert(
      fc.property(fc.string({ unit: CHARACTER, maxLength: 60 }), written => {
        const found = words(written)
        for (const word of found) assert.equal(foldWord(word), word, JSON.stringify(written))
        const placed = wordRuns(written.normalize('NFC')).map(({ word }) => word)
        assert.deepEqual(placed, found)
      }),
      { numRuns: 2_000 },
    )
  },
)
t.test('decision 16: case, accents as written, and hyphenation never matter', async () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[a-zéèüöçß0-9 ]{0,30}$/), written => {
      const plain = words(written)
      assert.deepEqual(words(written.normalize('NFD')), plain)
      assert.deepEqual(words([...written].join('\u00ad')), plain)
      assert.deepEqual(words(written.toUpperCase()), plain)
    }),
  )
})

t.test('decision 19: what has no letter or digit is nothing to find', async t => {
  for (const text of ['', ' ', '"-"', '½', '™ €', '\u0301', '\u200b', '😀'])
    t.notOk(hasLetterOrDigit(text), JSON.stringify(text))
  for (const text of ['a', '7', '²', 'é', '-x', '日']) t.ok(hasLetterOrDigit(text), text)
})

t.test('a body of a megabyte takes no long processor time, whatever it holds', async t => {
  for (const unit of ['a', 'é ', '-', '\u0301', 'ß', '\u{1d400}']) {
    const took = stopwatch()
    words(unit.repeat(Math.ceil(1_000_000 / unit.length)))
    t.ok(took() < 3_000, JSON.stringify(unit))
  }
})

t.test('decision 15: names are folded as words are, and keep what separates them', async t => {
  t.equal(foldName('  Zoë  de\u00a0la Œuvre-Straße '), 'zoe de la oeuvre-strasse')
})

t.test('decision 44: six apostrophes are one sign in names, and separate words', async t => {
  for (const sign of "'‘’ʼ`´") {
    t.equal(foldName(`d${sign}Eifel ${sign}s`), "d'eifel 's", sign)
    t.same(words(`d${sign}Eifel ${sign}sop${sign} ${sign}`), ['d', 'eifel', 'sop'], sign)
    t.equal(wordListOf(`d${sign}Eifel`), wordList(['d', 'eifel']), sign)
    t.same(
      wordRuns(`d${sign}Eifel`).map(({ start, end }) => [start, end]),
      [
        [0, 1],
        [2, 7],
      ],
      sign,
    )
    t.notOk(hasLetterOrDigit(sign), sign)
    t.same(parseBoolean(`a${sign}-b`), parseBoolean("a'-b"), sign)
    t.same(parseBoolean(`a -${sign}b`), parseBoolean("a -'b"), sign)
  }
})

t.test('a Latin letter is folded alike wherever it stands', async t => {
  for (let first = 0; first < 0x260; first++) {
    for (let second = 0; second < 0x260; second += 1 + (first % 7)) {
      const word = String.fromCharCode(first, second)
      if (foldWord(word) !== foldAny(word))
        t.equal(foldWord(word), foldAny(word), JSON.stringify(word))
    }
  }
})

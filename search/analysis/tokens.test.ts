import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { stopwatch } from '../../test/turns.ts'
import { parseBoolean } from '../query/parse.ts'
import { wordList, wordListOf } from './index.ts'
import { foldAny, foldName, foldWord, hasLetterOrDigit, wordRuns, words } from './tokens.ts'

const cases: [text: string, expected: string[]][] = [
  // Letters, digits and marks make words. All other characters separate words.
  ["l'économie", ['l', 'economie']],
  ['COVID-19', ['covid', '19']],
  ['a_b.c/d@e:f', ['a', 'b', 'c', 'd', 'e', 'f']],
  ['100½ ½x ™a a™b', ['100', 'x', 'a', 'a', 'b']],
  ['Ⅳ ① 😀 a\u{1f600}b', ['a', 'b']],
  ['\ud800x\udc00 y', ['x', 'y']],
  ['١٢٣ ३', ['١٢٣', '३']],
  ['', []],
  [' \n\t\u00a0', []],
  ['\u0301 a \u0301', ['a']],
  // Format characters are ignored. Superscript and subscript digits are digits.
  ['Zu\u00adsam\u200bmen\u200d \ufeffa\u200eb', ['zusammen', 'ab']],
  ['CO₂ CO2 m² m2 x⁰¹⁹₀₉', ['co2', 'co2', 'm2', 'm2', 'x01909']],
  // Words are folded.
  ['straße STRASSE ẞ', ['strasse', 'strasse', 'ss']],
  ['cœur coeur Æsir', ['coeur', 'coeur', 'aesir']],
  ['ﬁlm ĳs ŉ Łódź smørrebrød', ['film', 'ijs', 'n', 'lodz', 'smorrebrod']],
  ['Đà Ðorr þorn ılık İ', ['da', 'dorr', 'thorn', 'ilik', 'i']],
  ['e\u0301te\u0301 été ÉTÉ', ['ete', 'ete', 'ete']],
  ['𝐀𝐁 ＡＢ３', ['ab', 'ab3']],
]
t.test('decision 16: one way to cut a text into words', async t => {
  for (const [text, expected] of cases) t.same(words(text), expected, JSON.stringify(text))
})

t.test('decision 16: what is folded folds to itself, and words with places are those of the text', async () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 60 }), written => {
      const found = words(written)
      for (const word of found) assert.equal(foldWord(word), word, JSON.stringify(written))
      const placed = wordRuns(written.normalize('NFC')).map(({ word }) => word)
      assert.deepEqual(placed, found)
    }),
    { numRuns: 2_000 },
  )
})
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

t.test('a list of words holds the words of the text, whatever the text holds', async t => {
  const letters = [
    ...'abcZ ,.-\n1éÉßŒİ½²₂жΣ日ﷺ😀',
    '\u0301',
    '\u00ad',
    '\u200b',
    'e\u0301',
    '\ud800',
    '𝒜',
    'woord ',
    'Café ',
  ]
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...letters), { maxLength: 60 }), parts => {
      const text = parts.join('')
      assert.equal(wordListOf(text), wordList(words(text)))
    }),
    { numRuns: 5_000 },
  )
  for (const part of ['ßé ', 'ŉ½', 'word ', 'a ']) {
    const long = part.repeat(20_000)
    t.equal(wordListOf(long), wordList(words(long)))
  }
})

t.test('a Latin letter is folded alike wherever it stands', async t => {
  for (let first = 0; first < 0x260; first++) {
    for (let second = 0; second < 0x260; second += 1 + (first % 7)) {
      const word = String.fromCharCode(first, second)
      if (foldWord(word) !== foldAny(word)) t.equal(foldWord(word), foldAny(word), JSON.stringify(word))
    }
  }
})

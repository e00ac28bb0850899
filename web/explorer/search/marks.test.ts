import t from 'tap'
import { mark, matchOf } from './marks.ts'

/** The text with its marked words in brackets. */
const marked = (
  q: string,
  mode: 'keyword' | 'boolean' | 'expression',
  text: string,
  words: string[] | null = null,
): string =>
  mark(text, matchOf({ q, mode }), words && new Set(words))
    .map(piece => (piece.found ? `[${piece.text}]` : piece.text))
    .join('')

t.test(
  'keywords are marked in the forms that the API tells, with the accents of the text',
  async t => {
    t.equal(
      marked('bus', 'keyword', 'Bussen en een bus', ['bus', 'bussen']),
      '[Bussen] en een [bus]',
    )
    t.equal(
      marked('election', 'keyword', 'Les Élections, enfin', ['elections']),
      'Les [Élections], enfin',
    )
    t.equal(marked('bus', 'keyword', 'Bussen'), 'Bussen', 'before they have come')
  },
)

t.test('a boolean search marks words as written, and whole phrases', async t => {
  t.equal(marked('brug', 'boolean', 'brug en bruggen'), '[brug] en bruggen')
  t.equal(marked('"de brug" brug', 'boolean', 'op de brug, brug de'), 'op [de brug], [brug] de')
  t.equal(marked('brug -staking', 'boolean', 'brug staking'), '[brug] staking')
  t.equal(
    marked('bus AND "de brug"', 'expression', 'de brug, brug, bus', ['bus']),
    '[de brug], brug, [bus]',
  )
  t.equal(
    marked('"x y" "a b" "b c"', 'boolean', 'x y, a b c'),
    '[x y], [a b c]',
    'what overlaps is one place',
  )
})

t.test('a search by meaning marks nothing', async t => {
  t.equal(matchOf({ q: 'bus', mode: 'semantic' }), null)
  t.same(mark('bus', null, null), [{ text: 'bus', found: false }])
  t.same(mark('bus', { kind: 'all' }, null), [{ text: 'bus', found: false }])
  t.same(mark('bus', matchOf({ q: 'bus', mode: 'boolean' }), null), [{ text: 'bus', found: true }])
})

t.test('the pieces are the text, whatever it holds', async t => {
  for (const text of ['', '…', 'CO₂', 'a\u00ADb', "l'économie", '<b>&amp;</b>']) {
    const pieces = mark(
      text,
      matchOf({ q: 'economie ab co2', mode: 'keyword' }),
      new Set(['economie', 'ab', 'co2']),
    )
    t.equal(pieces.map(piece => piece.text).join(''), text)
  }
})

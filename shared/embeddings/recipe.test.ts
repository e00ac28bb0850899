import t from 'tap'
import { basisOf, biasVersion, without } from './bias.ts'
import CARDS from './cards.json' with { type: 'json' }
import { modelNamed, nearOf } from './models.ts'
import { articleVector, modelText, passagesOf, questionText } from './recipe.ts'

t.test('an article is its headline and the beginning of its body', async t => {
  t.same(passagesOf({ title: 'Kop', body: null }), [{ text: 'Kop', weight: 1 }])
  t.same(passagesOf({ title: 'Kop', body: ' \n ' }), [{ text: 'Kop', weight: 1 }])
  const [, body] = passagesOf({ title: 'Kop', body: 'woord '.repeat(500) })
  t.ok((body?.text.length ?? 0) <= 500 && body?.text.endsWith('woord'), 'cut between words')
  t.equal(passagesOf({ title: 'Kop', body: 'x'.repeat(900) })[1]?.text.length, 500)
  const bodyOf = (body: string) => passagesOf({ title: 'Kop', body })[1]?.text.length
  const ends = [
    `${'x'.repeat(430)} y`,
    `${'x'.repeat(450)} ${'y'.repeat(49)}`,
    `${'x'.repeat(400)} ${'y'.repeat(200)}`,
  ]
  t.same(ends.map(bodyOf), [432, 500, 500], 'whole where it is short, at a space where one is near')
})

t.test('its vector is the mean of theirs, of length 1', async t => {
  const passages = passagesOf({ title: 'a', body: 'b' })
  t.same(articleVector([{ text: 'a', weight: 1 }], [[3, 4]]), [0.6, 0.8])
  const right = [1, 0]
  for (const number of articleVector(passages, [right, [0, 1]]))
    t.ok(Math.abs(number - Math.SQRT1_2) < 1e-12)
  t.same(articleVector(passages, [right, [-1, 0]]), right, 'opposites do not cancel out')
})

t.test('directions are taken out of a vector, at any lengths and angles', async t => {
  const directions = [
    [3, 1, 0, 0],
    [1, 1, 0, 0.5],
    [6, 2, 0, 0],
    [0, 0, 0, 0],
    [3, 1, 0.00001, 0],
  ]
  const basis = basisOf(directions)
  t.equal(basis.length, 3, 'two of them say nothing new')
  const rest = without(basis, [0.3, -0.2, 0.9, 0.4])
  for (const direction of directions) {
    const along = direction.reduce((sum, number, at) => sum + number * (rest[at] ?? 0), 0)
    t.ok(Math.abs(along) < 1e-12, `${along}`)
  }
  t.same(without(basisOf([[0, 2]]), [3, 4]), [3, 0])
})

t.test('the embedded model has a measured bias, an unknown one has none', async t => {
  t.equal(modelNamed('intfloat/multilingual-E5-small').bias.length, 10)
  t.match(biasVersion('intfloat/multilingual-e5-small'), /^[0-9a-f]{12}$/)
  t.match(modelNamed('some/model'), {
    dimensions: null,
    queryPrefix: '',
    maxCharacters: 1_500,
    bias: [],
  })
  for (const [name, card] of CARDS as [string, object][]) t.match(modelNamed(name), card)
})

t.test('a model gets a text that it can read, as long as it may be', async t => {
  for (const [text, most, read] of [
    ['abc', 10, 'abc'],
    ['abcdef', 3, 'abc'],
    ['ab😀', 3, 'ab'],
    ['a\0b\ud800 \n c', 10, 'a b\ufffd c'],
    ['', 10, '-'],
    [`${' '.repeat(50)}abc`, 10, '-'],
  ] as const)
    t.equal(modelText(text, most), read)
  t.equal(questionText('x'.repeat(1_000)).length, 382)
})

t.test('a few words count as near from a lower relevance on', async t => {
  const near = { few: 0.1, many: 0.2 }
  for (const [query, wanted] of [
    ['sluis', 0.1],
    ['de oude sluis gaat', 0.1],
    ['Wasserstände: Brücke, e\u0301te\u0301', 0.1],
    ['de oude sluis gaat dicht', 0.2],
    ['l’eau monte à Liège', 0.2],
  ] as const)
    t.equal(nearOf(near, query), wanted, query)
  t.equal(nearOf(null, 'sluis'), null, 'not measured')
})

import t from 'tap'
import { boundMarks, cutText, snippetOf, TEXT_LIMITS } from './text.ts'

t.test('decision 33: a snippet is the first 200 code points with single spaces', async t => {
  t.equal(snippetOf(null), null)
  t.equal(snippetOf(' \n\t\u00a0'), null)
  t.equal(snippetOf(' Eén  zin.\r\n\r\nNog een. '), 'Eén zin. Nog een.')
  t.equal(snippetOf(`${'a'.repeat(199)} bc`), 'a'.repeat(199), 'without space at its end')
  t.equal(snippetOf(`b${'a'.repeat(300)}`), `b${'a'.repeat(199)}`)
  t.equal(snippetOf('woord   '.repeat(100)), 'woord '.repeat(100).slice(0, 200).trimEnd())
  t.equal(snippetOf(`${' '.repeat(5_000)}${'x'.repeat(201)}`), 'x'.repeat(200))
  t.equal(snippetOf('ж'.repeat(300)), 'ж'.repeat(200))
  t.equal(snippetOf('😀'.repeat(250)), '😀'.repeat(200), 'code points, not code units')
})

t.test('decision 33: a snippet ends with a whole grapheme', async t => {
  t.equal(
    snippetOf(`${'a'.repeat(200)}\u0301b`),
    'a'.repeat(199),
    'its accent would be one too many',
  )
  t.equal(snippetOf(`${'a'.repeat(199)}👨‍👩‍👧b`), 'a'.repeat(199))
  t.equal(snippetOf(`a${' '.repeat(201)}${'a'.repeat(198)}\u0301b`), `a ${'a'.repeat(197)}`)
  t.equal(snippetOf(`${'a'.repeat(195)}👨‍👩‍👧b`), `${'a'.repeat(195)}👨‍👩‍👧`)
})

t.test(
  'a text is cut after a whole word, or within one that is longer, never within a pair',
  async t => {
    for (const [text, most, cut] of [
      ['de brug', 7, 'de brug'],
      ['de brug', 6, 'de'],
      ['brug', 3, 'bru'],
      ['a😀', 2, 'a'],
    ] as const)
      t.equal(cutText(text, most), cut)
    t.same(TEXT_LIMITS, { title: 2_000, body: 2_000_000 })
  },
)

t.test('a letter keeps thirty marks, and all else stays', async t => {
  const words = 'Zoë cafe\u0301 “Ja” الحكومة 新聞検索'.repeat(20)
  for (const marks of [1, 29, 30, 31, 100, 80_000]) {
    for (const mark of ['\u0300', '\u0301']) {
      const kept = `b${mark.repeat(Math.min(marks, 30))}b`
      t.equal(boundMarks(`b${mark.repeat(marks)}b`), kept, `${marks} marks`)
      t.equal(boundMarks(`${words} b${mark.repeat(marks)}b`), `${words} ${kept}`)
    }
  }
})

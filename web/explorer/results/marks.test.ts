import t from 'tap'
import { STOP_WORDS } from '../../../search/stop-words.ts'
import type { Language } from '../../../shared/articles/article.ts'
import { mark, matchOf } from './marks.ts'

/** The text with its marked words in brackets. */
function marked(q: string, mode: 'keyword' | 'boolean', text: string, language: Language = 'nl'): string {
  return mark(text, language, matchOf({ q, mode }), STOP_WORDS)
    .map(piece => (piece.found ? `[${piece.text}]` : piece.text))
    .join('')
}

t.test('issue 21.1: keywords are marked in their forms, with the accents of the text', async t => {
  t.equal(marked('krant', 'keyword', 'Kranten en een krant'), '[Kranten] en een [krant]')
  t.equal(marked('election', 'keyword', 'Les Élections, enfin', 'fr'), 'Les [Élections], enfin')
  t.equal(marked('brussel', 'keyword', 'in Brussels today', 'en'), 'in [Brussels] today')
  t.equal(marked('krant', 'keyword', 'kranig'), 'kranig')
  t.equal(marked('bom', 'keyword', 'een boom'), 'een boom')
})

t.test('issue 21.1: stop words are marked only when there is nothing else', async t => {
  t.equal(marked('de brug', 'keyword', 'de brug'), 'de [brug]')
  t.equal(marked('de', 'keyword', 'de brug'), '[de] brug')
})

t.test('issue 21.1: a boolean search marks words as written, and whole phrases', async t => {
  t.equal(marked('brug', 'boolean', 'brug en bruggen'), '[brug] en bruggen')
  t.equal(marked('"de brug" brug', 'boolean', 'op de brug, brug de'), 'op [de brug], [brug] de')
  t.equal(marked('brug -staking', 'boolean', 'brug staking'), '[brug] staking')
})

t.test('the pieces are the text, whatever it holds', async t => {
  for (const text of ['', '…', 'CO₂', 'a\u00ADb', "l'économie", '<b>&amp;</b>']) {
    const pieces = mark(text, 'fr', matchOf({ q: 'economie ab co2', mode: 'keyword' }), STOP_WORDS)
    t.equal(pieces.map(piece => piece.text).join(''), text)
  }
})

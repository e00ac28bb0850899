import t from 'tap'
import { EMPTY_TEMPLATE, learn, lessonOf, partedBy, type Template, teaches } from './template.ts'

const OFFER = 'Lees elke dag het nieuws uit uw eigen streek, nu een maand lang voor één euro.'
const page = (n: number, ...more: string[]) => [
  `De eerste alinea van bericht ${n}, die niemand anders heeft.`,
  `De tweede alinea van bericht ${n}, die niemand anders heeft.`,
  ...more,
]

/** The template that has learned from the texts of these pages. */
const taughtBy = (texts: string[][], template: Template = EMPTY_TEMPLATE) =>
  texts.reduce((learned, text) => learn(learned, lessonOf(text)), template)
const pages = (count: number, from: number, ...more: string[]) =>
  Array.from({ length: count }, (_, n) => page(from + n, ...more))

t.test('a line that some pages repeat stays: a wire text, a series', async t => {
  const template = taughtBy([...pages(4, 0, OFFER), ...pages(16, 10)])
  t.same(partedBy(template, page(99, OFFER)).boilerplate, [])
  const series = taughtBy([...pages(5, 0, OFFER), ...pages(20, 10)])
  t.same(partedBy(series, page(99, OFFER)).boilerplate, [], 'a fifth of the pages')
  const shared = (holding: number) =>
    taughtBy([...pages(holding, 0, OFFER), ...pages(20 - holding, 50)])
  t.same(partedBy(shared(5), page(99, OFFER)).boilerplate, [], 'a quarter of the pages')
  t.same(
    partedBy(shared(6), page(99, OFFER)).boilerplate,
    [OFFER],
    'three pages in ten make boilerplate',
  )
})

t.test('a text that is mostly what other pages hold stays whole', async t => {
  const template = taughtBy(pages(12, 0, OFFER))
  t.same(partedBy(template, [OFFER]), { own: [OFFER], boilerplate: [] })
  const report = ['Morgen 12 graden.', OFFER]
  t.same(partedBy(template, report), { own: report, boilerplate: [] })
  const ownOf = (length: number) => 'x'.repeat(length)
  const half = Math.ceil(OFFER.length / 2)
  t.same(
    partedBy(template, [ownOf(half), OFFER]).boilerplate,
    [OFFER],
    'a third of its own is enough',
  )
  t.same(partedBy(template, [ownOf(half - 1), OFFER]).boilerplate, [], 'less is not')
})

t.test('a new template wins, and the old one is forgotten', async t => {
  const NEW = 'Meld u aan voor onze nieuwsbrief en mis niets meer van het nieuws uit de stad.'
  const old = taughtBy(pages(70, 0, OFFER))
  const revised = taughtBy(pages(64, 100, NEW), old)
  t.same(partedBy(revised, page(999, NEW)).boilerplate, [NEW])
  const later = taughtBy(pages(128, 200, NEW), revised)
  t.same(
    partedBy(later, page(999, OFFER)).boilerplate,
    [],
    'a line of the old template is text again',
  )
})

t.test('a template stays small, whatever an outlet serves, and keeps what repeats', async t => {
  const long = (n: number) =>
    Array.from({ length: 500 }, (_, line) => `Regel ${line} van bericht ${n}.`)
  const texts = Array.from({ length: 40 }, (_, n) => [...long(n), OFFER])
  const template = taughtBy(texts)
  t.ok(JSON.stringify(template).length < 6_000)
  t.same(partedBy(template, page(99, OFFER)).boilerplate, [OFFER])
  // Each page teaches the offer and 19 lines of its own. The bound has room for 249 of these lines,
  // and keeps the latest.
  const known = (n: number) => lessonOf(texts[n]!).filter(line => line in template.lines).length
  t.strictSame([0, 25, 26, 27, 39].map(known), [1, 1, 3, 20, 20])
})

t.test('the same pages in one order teach the same, also by way of the database', async t => {
  const texts = pages(60, 0, OFFER)
  const stored: Template = JSON.parse(JSON.stringify(taughtBy(texts.slice(0, 30))))
  t.equal(JSON.stringify(taughtBy(texts.slice(30), stored)), JSON.stringify(taughtBy(texts)))
})

t.test('how many pages teach, what they leave, and when counts are halved', async t => {
  const boilerplateOf = (template: Template | null) =>
    partedBy(template, page(99, OFFER)).boilerplate
  t.same([null, taughtBy(pages(9, 0, OFFER)), taughtBy(pages(10, 0, OFFER))].map(boilerplateOf), [
    [],
    [],
    [OFFER],
  ])
  const mixed = (holding: number) =>
    taughtBy([...pages(holding, 0, OFFER), ...pages(10 - holding, 50)])
  t.same([4, 5].map(mixed).map(boilerplateOf), [[], [OFFER]])
  const beside = (length: number) =>
    partedBy(taughtBy(pages(10, 0, `${OFFER}!`)), ['x'.repeat(length), `${OFFER}!`])
  t.same(
    [39, 40].map(length => beside(length).boilerplate.length),
    [0, 1],
    'more than two thirds',
  )
  t.equal(lessonOf(Array.from({ length: 21 }, (_, n) => `Regel ${n}.`)).length, 20, 'both ends')
  t.equal(taughtBy(pages(63, 0)).pages, 63)
  const half = taughtBy([...pages(62, 0, OFFER), page(70, 'Een reeks.'), page(71, 'Een reeks.')])
  t.same([half.pages, Object.values(half.lines)], [32, [31, 1]])
  const [a, b, again] = [['a'], ['b'], ['a']].map(lessonOf)
  t.same(
    Object.keys(taughtBy([['a'], ['b'], ['a']]).lines),
    [...b!, ...a!],
    'the latest line stands last',
  )
  t.same([again, lessonOf(['De brug.'])], [a, ['lvtg3fk']], 'stored digests stay')
  const first = [
    [1n, 63],
    [1n, 64],
    [8n, 64],
    [9n, 99],
  ] as const
  t.same(
    first.map(([pageNo, taught]) => teaches(pageNo, taught)),
    [true, false, true, false],
  )
})

import t from 'tap'
import type { TruePage } from '../truth.ts'
import { estimate, foldedFigure, type Tally } from './interval.ts'
import { judge } from './judge.ts'
import { FOLDS, foldOf, publisherOf } from './publisher.ts'

const tally = (publisher: string, right: number, of = 1): Tally => ({ publisher, fold: foldOf(publisher), right, of })

t.test('the publisher of a page is its registrable domain, also of a kept copy', async t => {
  const cases: [string, string][] = [
    ['https://www.dagkoerier.example/a', 'dagkoerier.example'],
    ['https://sport.dagkoerier.co.uk/a', 'dagkoerier.co.uk'],
    ['https://anna.wordpress.com/2026/brug', 'anna.wordpress.com'],
    ['https://web.archive.org/web/20260102030405/https://www.dagkoerier.example/a', 'dagkoerier.example'],
    ['https://web.archive.org/web/20260102030405id_/http://dagkoerier.example/a', 'dagkoerier.example'],
    ['http://127.0.0.1:8080/a', '127.0.0.1'],
  ]
  for (const [url, publisher] of cases) t.equal(publisherOf(url), publisher, url)
})

t.test('the fold of a publisher never changes', async t => {
  t.same(['dagkoerier.example', 'courrier.example', 'anna.wordpress.com'].map(foldOf), [1, 2, 1])
  const folds = new Set(Array.from({ length: 100 }, (_, n) => foldOf(`outlet${n}.example`)))
  t.same([...folds].sort(), [0, 1, 2, 3, 4])
  t.equal(FOLDS, 5)
})

t.test('an interval is drawn over publishers, the same in every run', async t => {
  const alone = estimate([tally('a.example', 1), tally('a.example', 0)])
  t.same(alone, { value: 50, low: 50, high: 50 }, 'one publisher says nothing of others')
  const many = Array.from({ length: 40 }, (_, n) => tally(`outlet${n}.example`, n % 2))
  const one = estimate(many)
  t.same(one, estimate(many))
  t.equal(one?.value, 50)
  t.ok((one?.low ?? 0) > 25 && (one?.low ?? 0) < 45, `${one?.low}`)
  t.ok((one?.high ?? 0) > 55 && (one?.high ?? 0) < 75, `${one?.high}`)
  t.equal(estimate([]), null)
})

t.test('open and unseen publishers are kept apart', async t => {
  const tallies = Array.from({ length: 200 }, (_, n) => {
    const of = tally(`outlet${n}.example`, 0)
    return { ...of, right: of.fold === 0 ? 1 : 0 }
  })
  const { open, unseen, folds, pages } = foldedFigure(tallies)
  t.equal(open?.value, 100)
  t.equal(unseen?.value, 0)
  t.equal(folds.length, FOLDS)
  t.equal(pages, tallies.filter(({ fold }) => fold !== 0).length)
})

t.test('a page is judged by value, with what was missed', async t => {
  const page = {
    set: 'extraction' as const,
    file: 'a',
    url: 'https://dagkoerier.example/a',
    html: '<html><head><title>„Brug“ dicht</title><meta name="author" content="Jan Smit, Anna Weber"><meta property="article:published_time" content="2026-11-03T23:30:00-05:00"></head><body><h1>„Brug“ dicht</h1></body></html>',
    title: '"Brug" dicht',
    date: '2026-11-03',
    authors: ['Jan Smit'],
    text: null,
  }
  const shares = Object.fromEntries(judge(page).map(({ figure, right, of }) => [figure, `${right}/${of}`]))
  t.same(shares, {
    title_recall: '1/1',
    title_precision: '1/1',
    title_ceiling: '1/1',
    date_recall: '1/1',
    date_precision: '1/1',
    date_ceiling: '1/1',
    authors_exact: '0/1',
    authors_precision: '1/2',
    authors_recall: '1/1',
    authors_ceiling: '0/1',
  })
  const none = judge({ ...page, html: '' })
  t.equal(none.find(({ figure }) => figure === 'date_precision')?.of, 0, 'nothing found is not wrong')
  t.match(none.find(({ figure }) => figure === 'date_recall')?.miss ?? '', /none for 2026-11-03/)
})

t.test('the ceiling counts what some source of a page gives, chosen or not', async t => {
  const page = {
    set: 'extraction' as const,
    file: 'a',
    url: 'https://dagkoerier.example/a',
    html: `<html><head><title>Brug dicht</title><meta property="og:title" content="Maasbrug weken dicht"><meta property="article:published_time" content="2026-11-03T12:00:00Z">
      <meta name="author" content="Anna Weber"></head><body><h1>Brug dicht</h1><p>Door Jan Smit</p><p>4 november 2026</p></body></html>`,
    title: 'Maasbrug weken dicht',
    date: '2026-11-04',
    authors: ['Jan Smit'],
    text: null,
  }
  const figures = (of: TruePage) => Object.fromEntries(judge(of).map(({ figure, right }) => [figure, right]))
  t.match(figures(page), { title_recall: 0, title_ceiling: 1, date_recall: 0, date_ceiling: 1 })
  t.match(figures(page), { authors_exact: 0, authors_ceiling: 1 })
  t.match(figures({ ...page, authors: [] }), { authors_exact: 0, authors_ceiling: 1 }, 'nobody is a choice')
  const other = { ...page, title: 'Tunnel open', date: '2026-11-09', authors: ['Piet de Vries'] }
  t.match(figures(other), { title_ceiling: 0, date_ceiling: 0, authors_ceiling: 0 })
})

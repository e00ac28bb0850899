import t from 'tap'
import type { ArticleRow } from '../../../search/index.ts'
import { articleObject } from '../../../services/api/articles/shown-article.ts'
import type { Orders } from './documents.ts'
import { otherRow, samePage } from './measure.ts'

// Four articles in the order of publication; 2 and 3 at the same moment.
const orders: Orders = {
  rows: 4,
  seqOfPlace: Int32Array.of(0, 1, 2, 3, 4),
  placeOfSeq: Int32Array.of(0, 1, 2, 3, 4),
  seqOfTurn: Int32Array.of(0, 4, 3, 2, 1),
  turnOfSeq: Int32Array.of(0, 4, 3, 2, 1),
  published: Float64Array.of(-Infinity, -Infinity, 10, 10, 20),
  ingested: Float64Array.of(-Infinity, 1, 2, 3, 4),
  undated: 1,
}

t.test('a page is the same only with the same articles in the order of time', async t => {
  const same = (ours: number[], theirs: number[]) => samePage(ours, theirs, 'published_at', orders)
  t.ok(same([4, 3, 2], [4, 3, 2]))
  t.ok(same([], []))
  t.notOk(same([4, 3, 2], [4, 3]), 'one is missing')
  t.notOk(same([4, 1], [4, 3]), 'another article')
  t.notOk(same([4, 3, 1], [3, 4, 1]), 'another order')
  t.notOk(same([4, 3], [4, 4]), 'the same article twice')
})

t.test('among articles of one moment any order is right, and at the end of a page any choice', async t => {
  t.ok(samePage([4, 3, 2], [4, 2, 3], 'published_at', orders))
  t.ok(samePage([4, 3], [4, 2], 'published_at', orders))
  t.notOk(samePage([3, 2], [2, 2], 'published_at', orders), 'the same article twice')
  t.notOk(samePage([3, 2], [2, 3], 'ingested_at', orders), 'no two were ingested at one moment')
})

const row: ArticleRow = {
  ...{ seq: 7n, id: 'a', title: 'Title', url: 'https://a.example/7', snippet: null },
  ...{ publishedAt: null, ingestedAt: new Date(0), authors: [{ id: 'b', name: 'Ann' }] },
  ...{ outlet: { name: 'Outlet', domain: null }, language: 'nl', country: 'BE' },
}

t.test('every row of a page is the article as the contract shows it', async t => {
  const shown = JSON.stringify(articleObject(row))
  t.equal(otherRow([row], { seqs: [7], rows: [shown] }), null)
  t.equal(otherRow([row], { seqs: [7], rows: [] }), '0 rows of 1 articles')
  const wrong = shown.replace('Ann', 'Anna')
  t.equal(otherRow([row], { seqs: [7], rows: [wrong] }), wrong)
})

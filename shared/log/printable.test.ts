import t from 'tap'
import { counted, describe, printable, printableLine } from './printable.ts'

t.test('whatever is thrown is described in words', async t => {
  const circle: { self?: object } = {}
  circle.self = circle
  const fails = {
    get message(): string {
      throw new Error('no')
    },
  }
  const fetched = new TypeError('fetch failed', {
    cause: new Error('connect ECONNREFUSED 127.0.0.1:1'),
  })
  for (const [thrown, words] of [
    [new Error('The disk is full.'), 'The disk is full.'],
    ['a word', 'a word'],
    [{ message: 'from pg-boss', worker: 3 }, 'from pg-boss'],
    [{ code: 'E1' }, '{"code":"E1"}'],
    [fetched, 'connect ECONNREFUSED 127.0.0.1:1'],
    [new AggregateError([new Error('first'), new Error('second')]), 'first'],
    [new Error('', { cause: { message: 'the cause' } }), 'the cause'],
    [new RangeError(), 'RangeError'],
    [new AggregateError([new Error('one')], 'several'), 'one'],
    [new AggregateError([], 'none answers'), 'none answers'],
    [{ message: 5, code: 'E2' }, '{"message":5,"code":"E2"}'],
    [7, '7'],
    [true, 'true'],
    [10n, '10'],
    ...[undefined, null, {}, '', circle, fails, Symbol('s'), () => {}].map(odd => [
      odd,
      'an error without a message',
    ]),
  ] as const) {
    t.equal(describe(thrown), words)
    t.notMatch(describe(thrown), /\[object|undefined/)
  }
})

t.test('control characters and marks of direction never reach a terminal', async t => {
  t.equal(printable('a\u001b[2Jb\nc\td\u202e'), 'a\\u001b[2Jb\nc\td\\u202e')
  t.equal(printableLine('a\nb\tc'), 'a\\u000ab\\u0009c')
})

t.test('a number has its noun in the right form', async t => {
  const counts = [0, 1, 2].map(n => counted(n, 'feed'))
  t.same(counts, ['0 feeds', '1 feed', '2 feeds'])
})

import t from 'tap'
import { selectFiles } from './groups.ts'

const QUICK = 'search/query/parse.test.ts'
const SERVER = 'test/search/oracle.test.ts'
const SLOW = 'test/search/archives.slow.test.ts'
const LONG = 'test/search/oracle.long.test.ts'
const FILES = [QUICK, LONG, SLOW, SERVER]

const select = (options: { all?: boolean; long?: boolean }, ...parts: string[]) =>
  selectFiles(FILES, { all: false, long: false, ...options, parts })

t.test('each command runs one group more than the one before', async t => {
  t.same(select({}), [['quick', [SERVER, QUICK]]])
  t.same(select({ all: true }), [
    ['quick', [SERVER, QUICK]],
    ['slow', [SLOW]],
  ])
  t.same(
    select({ long: true }).map(([group]) => group),
    ['quick', 'slow', 'long'],
  )
})

t.test('a part of a path chooses quick and slow files, a whole path any file', async t => {
  t.same(select({}, 'test/search'), [
    ['quick', [SERVER]],
    ['slow', [SLOW]],
  ])
  t.same(select({}, 'oracle'), [['quick', [SERVER]]])
  t.same(select({ long: true }, 'oracle'), [
    ['quick', [SERVER]],
    ['long', [LONG]],
  ])
  t.same(select({}, LONG), [['long', [LONG]]])
  t.same(select({}, `./${LONG}`), [['long', [LONG]]])
  t.same(select({}, 'nowhere'), [])
})

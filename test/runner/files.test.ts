import t from 'tap'
import { readReport } from './files.ts'
import { selectFiles, shareProcesses } from './groups.ts'

t.test(
  'a report without its sum has failed, and so has one that ended with an error after it',
  async t => {
    t.equal(readReport('TAP version 14\n# Subtest: a\n    ok 1 - x\n', 0).failed, 1)
    t.equal(readReport('1..1\n# { total: 1, pass: 1 }\n', 1).failed, 1)
    t.equal(readReport('1..1\n# { total: 1, pass: 1 }\n', null).failed, 1)
    t.equal(readReport('1..1\n# { total: 1, pass: 1 }\n', 0).failed, 0)
  },
)

const QUICK = 'search/query/parse.test.ts'
const SERVER = 'test/search/oracle.test.ts'
const SLOW = 'test/search/archives.slow.test.ts'
const LONG = 'test/search/oracle.long.test.ts'
const FILES = [QUICK, LONG, SLOW, SERVER]

const TIMES = { [QUICK]: 1, [LONG]: 900, [SLOW]: 60, [SERVER]: 40 }

const select = (options: { all?: boolean; long?: boolean }, ...parts: string[]) =>
  selectFiles(FILES, { all: false, long: false, ...options, parts }, TIMES)

t.test('each command runs one group more than the one before', async t => {
  t.same(select({}), [['quick', [SERVER, QUICK]]])
  t.same(select({ all: true }), [
    ['quick', [SERVER, QUICK]],
    ['slow', [SLOW]],
  ])
  const groups = select({ long: true }).map(([group]) => group)
  t.same(groups, ['quick', 'slow', 'long'])
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

t.test('the longest file begins first, and a new one before it', async t => {
  const files = ['a.test.ts', 'b.test.ts', 'new.test.ts']
  const groups = selectFiles(
    files,
    { all: false, long: false, parts: [] },
    {
      'a.test.ts': 2,
      'b.test.ts': 30,
    },
  )
  t.same(groups, [['quick', ['new.test.ts', 'b.test.ts', 'a.test.ts']]])
})

t.test('short neighbours share a process; a long file, a new one and others run alone', async t => {
  const times = {
    'a/1.test.ts': 9,
    'a/2.test.ts': 9,
    'b/1.test.ts': 9,
    'b/2.test.ts': 9,
    'b/3.test.ts': 8,
  }
  const files = ['new.test.ts', 'b/long.test.ts', ...Object.keys(times), 'a/own.test.ts']
  t.same(
    shareProcesses(
      files,
      { ...times, 'b/long.test.ts': 30, 'a/own.test.ts': 1 },
      file => !file.includes('own'),
    ),
    [
      ['a/1.test.ts', 'a/2.test.ts', 'b/1.test.ts', 'b/2.test.ts'],
      ['b/long.test.ts'],
      ['new.test.ts'],
      ['b/3.test.ts'],
      ['a/own.test.ts'],
    ],
  )
})

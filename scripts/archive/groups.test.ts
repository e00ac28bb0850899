import { Readable } from 'node:stream'
import t from 'tap'
import { type Group, readGroups } from './groups.ts'
import { openArchiveReader } from './reader.ts'

t.setTimeout(120_000)

const line = (number: number) =>
  JSON.stringify({
    ...{ url: `https://dagkoerier.example/${number}`, title: `Titel ${number}`, body: '<p>Eén.</p><p>Twee.</p>' },
    ...{ outlet: { domain: 'dagkoerier.example' }, language: 'nl', country: 'NL', published_at: '2024-02-29' },
  })

async function readAll(text: string, prepare: boolean): Promise<Group[]> {
  const reader = openArchiveReader({ prepare })
  t.teardown(() => reader.close())
  const groups: Group[] = []
  for await (const group of readGroups(Readable.from([Buffer.from(text)]), reader)) groups.push(group)
  return groups
}

t.test('threads read an archive in groups, and everything stays in its order', async t => {
  const bad = new Set([1, 400, 401, 1_999])
  const text = Array.from({ length: 2_000 }, (_, at) => (bad.has(at + 1) ? '{' : line(at + 1))).join('\n')
  const groups = await readAll(text, true)
  t.same(
    groups.flatMap(group => group.articles.map(article => article.title)),
    Array.from({ length: 2_000 }, (_, at) => at + 1).flatMap(number => (bad.has(number) ? [] : [`Titel ${number}`])),
  )
  t.same(
    groups.flatMap(group => group.bad.map(one => one.number)),
    [...bad],
  )
  t.ok(groups.length > 3)
  t.equal(groups.at(-1)?.end, Buffer.byteLength(text))
  t.match(groups[0]?.articles[0], {
    body: 'Eén.\n\nTwee.',
    publishedAt: new Date('2024-02-29'),
    prepared: { snippet: 'Eén. Twee.', words: { title: '\ntitel\n2\n', body: '\neen\ntwee\n' } },
  })
})

t.test('a dry run prepares no texts', async t => {
  const [group] = await readAll(line(1), false)
  t.equal(group?.articles.length, 1)
  t.notOk(group?.articles[0]?.prepared)
})

t.test('a stream that breaks is an error for the caller', async t => {
  const reader = openArchiveReader({ prepare: false })
  t.teardown(() => reader.close())
  async function* broken() {
    yield Buffer.from(`${line(1)}\n`)
    throw new Error('the file is cut off')
  }
  await t.rejects(
    async () => {
      for await (const group of readGroups(broken(), reader)) t.ok(group)
    },
    { message: 'the file is cut off' },
  )
})

import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import type { NewArticle } from '#search/types'
import { sent, startTestApi } from '#test/contract/api'
import { createTestDatabase } from '#test/database'
import { runScript } from '#test/script'

const api = await startTestApi(t)
const { secret } = await api.issue()
const env = { DATABASE_URL: api.config.DATABASE_URL, LOG_LEVEL: 'silent' }
const at = (day: number) => new Date(Date.UTC(2026, 0, day))
const articles = Array.from({ length: 1_200 }, (_, n): Partial<NewArticle> & { title: string } => ({
  id: `=id;${n}`,
  title: `Haven ${n}`,
  url: `https://example.org/${n}`,
  publishedAt: at(1 + (n % 28)),
  authors: n % 3 ? ['Anna', 'Bob'] : [],
  country: n % 2 ? 'BE' : 'NL',
}))
await api.index(articles)

const verify = async (subject: string, own = env) => {
  const { code, out } = await runScript('cite', ['verify', subject], own)
  return [code, ...out.trimEnd().split('\n')]
}
const folder = t.testdir({})
const citation = async (search: string) =>
  (await api.ask(secret, '/explore/citations', sent('POST', { search }))).json
const download = async (address: string, key = secret) => {
  const path = join(folder, `${address.slice(6, 12)}-${key.slice(-4)}.csv`)
  await writeFile(path, (await api.ask(key, `${address}.csv`)).text)
  return path
}

const all = await citation('q=haven&search=boolean')
const csv = await download(all.address)
const narrow = await citation('q=haven&country=BE&published_after=2026-01-05')

t.test(
  'a citation verifies after articles came, and after everything was indexed anew',
  async t => {
    t.equal(all.count, 1_200)
    await api.index([{ id: 'later', title: 'Haven later' }])
    t.strictSame(await verify(all.address), [0, 'equal'])
    t.equal((await runScript('reindex', [], env)).code, 0)
    for (const subject of [all.url, all.digest, narrow.address, csv])
      t.strictSame(await verify(subject), [0, 'equal'])
    t.equal(
      (await citation('q=haven&country=BE&published_after=2026-01-05')).address,
      narrow.address,
    )
  },
)

t.test(
  'on another system that imported an export, the file verifies; what differs is named',
  async t => {
    const file = join(folder, 'export.ndjson')
    await writeFile(file, (await runScript('export', ['--body'], env)).out)
    const database = await createTestDatabase(t)
    const there = { ...env, DATABASE_URL: database.url }
    const outlet = { name: 'X', domain: 'x.example' }
    const archived = (id: string, title: string, path: string) => {
      const times = {
        published_at: '2026-01-02T00:00:00.000Z',
        ingested_at: '2026-01-03T00:00:00.000Z',
      }
      const url = `https://example.org/${path}`
      return JSON.stringify({
        id,
        title,
        url,
        outlet,
        authors: [],
        language: 'nl',
        country: 'NL',
        ...times,
      })
    }
    // Others first: all numbers are others there.
    await writeFile(join(folder, 'first.ndjson'), archived('other', 'Iets anders', 'y'))
    t.equal((await runScript('import', [join(folder, 'first.ndjson')], there)).code, 0)
    t.equal((await runScript('import', [file], there)).code, 0)
    t.same((await verify(all.address, there))[0], 2, 'the address is not known there')
    t.strictSame(await verify(csv, there), [0, 'equal'], 'and what came later does not count')
    await writeFile(join(folder, 'own.ndjson'), archived('own', 'Haven eerder', 'x'))
    t.equal((await runScript('import', [join(folder, 'own.ndjson')], there)).code, 0)
    t.strictSame(await verify(csv, there), [
      3,
      'more is found here',
      'own is found now and was not cited: imported later, or missing',
    ])
  },
)

t.test('fields of a file that were forged are named, whatever its digest says', async t => {
  const forged = join(folder, 'forged.csv')
  const text = await readFile(csv, 'utf8')
  for (const [from, to, told] of [
    [',Haven 7,', ',Haven 8,', '=id;7: title is not what h was computed from'],
    ['Anna; Bob', 'Anna; Rob', '=id;1: authors is not what h was computed from'],
    ['""Haven 7""', '""Haven 8""', '=id;7: h is not the hash of the last cell'],
    ['"[""Haven 7""', '"[[""Haven 7""', '=id;7: the last cell is not what h was computed from'],
  ] as const) {
    await writeFile(forged, text.replace(from, to))
    t.strictSame(await verify(forged), [1, 'differs', told])
  }
  await writeFile(forged, text.replace(/"\[""Haven 7"".*\]"/, ''))
  t.match(await verify(forged), [
    2,
    'cannot be recomputed',
    /^The last cell.* is empty in 1 line\./,
  ])
})

t.test('what differs is named, and what cannot be recomputed is said', async t => {
  const less = await api.issue({ countries: ['BE'] })
  t.strictSame((await verify(await download(all.address, less.secret))).slice(0, 2), [
    2,
    'cannot be recomputed',
  ])
  const change = (sql: string) => api.pool.query(sql)
  await change(`update citations set rules = 0 where search like '%country%'`)
  t.strictSame((await verify(narrow.address)).slice(0, 2), [2, 'cannot be recomputed'])
  await change(`update citations set watermark = watermark + 1 where search like '%boolean%'`)
  t.strictSame(await verify(all.address), [1, 'differs', 'later is found now, and was not cited'])
  await change(`update citations set watermark = watermark - 1 where search like '%boolean%'`)
  await change(`update article_texts set title = 'Haven X' where title = 'Haven 7'`)
  t.strictSame(await verify(all.address), [1, 'differs', '=id;7 was cited with other fields'])
  t.match((await verify(csv)).join('\n'), /^1\ndiffers\n.*=id;7/s)
  t.match((await verify('nothing.csv')).slice(0, 2), [2, 'cannot be recomputed'])
  t.equal((await verify('nothing'))[0], 2)
})

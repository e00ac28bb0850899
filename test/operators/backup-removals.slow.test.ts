import { appendFile, mkdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { readIndexSize } from '#search/indexer'
import { startTestApi } from '#test/contract/api'
import { createTestDatabase } from '#test/database'
import { runScript } from '#test/script'

const source = await startTestApi(t)
const target = await createTestDatabase(t)
const folder = t.testdir()
const elsewhere = join(folder, 'log')
const list = join(folder, 'removals.perscope.ndjson')
const file = join(folder, 'perscope.backup')
await mkdir(elsewhere)
const env = { REDIS_URL: '', QDRANT_URL: '', BACKUP_FOLDERS: `${folder},${elsewhere}` }
const run = (url: string, name: string, ...words: string[]) =>
  runScript(name, words, { ...env, DATABASE_URL: url })
const here = (name: string, ...words: string[]) => run(source.config.DATABASE_URL, name, ...words)
const there = (name: string, ...words: string[]) => run(target.url, name, ...words)

const outlet = { name: 'De Dagkoerier', domain: 'dagkoerier.example' }
const lineOf = (word: string) =>
  JSON.stringify({
    ...(word === 'leaves' && { id: `krant.nl/2024:${word}` }),
    url: `https://dagkoerier.example/${word}`,
    title: `Kanaal ${word}`,
    body: null,
    outlet,
    language: 'nl',
    country: 'NL',
    authors: [],
  })
async function importInto(import_: typeof here, ...words: string[]) {
  const path = join(folder, 'some.ndjson')
  await writeFile(path, `${words.map(lineOf).join('\n')}\n`)
  const { code, out, err } = await import_('import', path, '--json')
  if (code !== 0) throw new Error(err)
  return JSON.parse(out.trim().split('\n').at(-1)!)
}
const remove = (word: string) =>
  here('articles', 'remove', `https://dagkoerier.example/${word}`, '--reason', 'a court')

const TOMBSTONES =
  'select number::int, id, cleared_at is not null as done from tombstones order by number'

t.test('each folder has both removals, and nothing of what the articles said', async t => {
  await importInto(here, 'stays', 'leaves')
  t.match(await here('backup', file), { code: 0 })
  await importInto(here, 'later')
  for (const word of ['leaves', 'later']) t.match(await remove(word), { code: 0 })
  const text = await readFile(list, 'utf8')
  t.equal(await readFile(join(elsewhere, 'removals.perscope.ndjson'), 'utf8'), text)
  t.equal(text.trim().split('\n').length, 2)
  t.notMatch(text, /Kanaal|dagkoerier/)
  t.equal((await stat(list)).mode & 0o777, 0o600)
})

t.test('a restore of before takes them out again, and bars their addresses', async t => {
  const { code, err } = await there('restore', file)
  const told = await source.pool.query('select number, id from tombstones order by number')
  t.equal(code, 0, err)
  t.match(err, /Took out 1 article again, of 2 on the list/)
  t.strictSame(
    await target.query(TOMBSTONES),
    told.rows.map(({ number, id }) => ({ number: Number(number), id, done: true })),
  )
  t.strictSame(await target.query('select title from article_texts'), [{ title: 'Kanaal stays' }])
  t.match(await importInto(there, 'leaves', 'later'), { removed: 2 })
  t.match(await there('verify'), { code: 0 })
})

t.test('what came back without the list is named by doctor and backup', async t => {
  const at = join(folder, 'apart.backup')
  const lines = async (name: string, ...words: string[]) => {
    const { code, out, err } = await there(name, ...words)
    return { code, text: out + err }
  }
  const [one] = await target.query('select id from tombstones where number = 1')
  const id = String(one?.id)
  const relapsed = new RegExp(
    `1 article of the list of removals .* is not taken out here: ${id}: end all services, then run "npm run recovered"`,
  )
  const sound = (await lines('doctor')).text
  t.notMatch(sound, 'not taken out here')
  t.match(sound, /^ok +backup /m)
  await target.query(
    'delete from tombstone_addresses where seq in (select seq from tombstones where number = 1)',
  )
  await target.query('delete from tombstones where number = 1')
  await utimes(file, 0, 0)
  const found = await lines('doctor')
  t.match(found, { code: 1, text: relapsed })
  t.match(found.text, /^warn +backup +The newest backup .* old: run "npm run backup"/m)
  t.match(await lines('backup', at), { code: 1, text: relapsed })
})

t.test('so does a recovery, also where the key of the database is another', async t => {
  await target.query('delete from tombstone_addresses; delete from tombstones')
  await target.query('update ingest_clock set last_removal = 0')
  await target.query('update tombstone_key set inner_pad = outer_pad')
  const { code, err } = await there('recovered')
  t.equal(code, 0, err)
  t.match(await importInto(there, 'leaves', 'later'), { removed: 2 })
})

t.test('a file says what went, and which backups of before have it', async t => {
  const [{ id, number }] = (await source.pool.query('select id, number from tombstones order by 2'))
    .rows
  const path = join(t.testdir(), 'proof.txt')
  const prove = (...words: string[]) => here('articles', 'proof', ...words)
  await source.issue()
  await source.pool.query(
    `insert into citations (digest, key_id, search, countries, since, watermark, as_of, rules, articles, seqs, marks)
     select 'x', k.id, 'q=x', '{NL}', now(), 1, now(), 1, 1, array[seq], '{1}' from api_keys k, tombstones t where t.id = $1`,
    [id],
  )
  t.match(await prove(id, '--out', path), { code: 0, err: `Wrote ${path}.` })
  t.equal((await stat(path)).mode & 0o777, 0o600)
  const text = await readFile(path, 'utf8')
  t.match(text, `the article with the id ${id}`)
  t.match(text, /It was taken out on \d{4}-/)
  t.match(text, /title, text and snippet +none\n/)
  t.match(text, /vectors \(Qdrant\) +none\n/)
  t.match(text, /messages that are to make its vector +none\n/)
  t.match(text, /segments of the index +\d+ that had its number, without its words/)
  t.match(text, /perscope\.backup, of \d{4}/)
  t.match(text, `The list in ${elsewhere} names it`)
  t.match(text, `- No file of before in ${elsewhere}.\n`)
  t.notMatch(text, /STILL|NOT|a court|Kanaal/)
  await source.pool.query('delete from citations')
  t.match(text, /^- Its line in 1 citation: id, times, and a hash/m)
  t.match(text, /^- Logs of before .*\n- Bytes of deleted rows .*VACUUM FULL.*\n- .*pg_switch_wal/m)
  t.match((await prove(id, '--out', '-')).out, `Removal ${number}: the article with the id ${id}\n`)
  const told = { id, done: true, found: { addresses: 'none' }, file: null }
  t.match(JSON.parse((await prove(id, '--json')).out), told)
  const { out } = await runScript('articles', ['proof', id, '--out', '-'], {
    ...env,
    DATABASE_URL: source.config.DATABASE_URL,
    BACKUP_FOLDERS: `${folder},${join(folder, 'away')}`,
  })
  t.match(out, /away was NOT READ \(There is no such file/, 'a folder of another machine')
  t.match(out, `The list in ${folder} names it`)
  const closed = join(path, 'x')
  t.match(await prove(id, '--out', closed), { code: 2, err: `${closed} cannot be written (` })
  t.match(await prove(), { code: 2, err: /proof takes the id of one article/ })
  await source.pool.query(
    `insert into article_addresses (outlet, address, id) select 'x.example', 'x', id from tombstones where number = $1`,
    [number],
  )
  const say = (section: string | null) =>
    source.pool.query('update articles set section = $1 where id = $2', [section, id])
  await say('Sport')
  await source.pool.query(
    "insert into archive_indices (name, first_seq, last_seq, filled_to, state, analysis) values ('a', 1, 9, 9, 'building', 1)",
  )
  t.match(await prove(id, '--out', path), { code: 1, err: /run `npm run articles -- clear`, then/ })
  t.match(await readFile(path, 'utf8'), /^addresses +STILL THERE: 1/m)
  t.match(await readFile(path, 'utf8'), /section, kind and access +STILL THERE: 1/)
  await say(null)
  t.match(await readFile(path, 'utf8'), /archive index .* NOT ASKED: Set OPENSEARCH_URL/)
  await source.pool.query('delete from archive_indices')
  await source.pool.query("delete from article_addresses where outlet = 'x.example'")
  t.match(await prove('nobody'), { code: 2, err: /No article/ })
})

t.test('only articles that are there are counted', async t => {
  t.match(await here('reindex', '--dry-run'), { err: /the words of 1 article\./ })
  t.match(await here('verify'), { code: 0, err: /Compared 1 article / })
  t.match(await here('reindex'), { code: 0, err: /Rebuilt the words of 1 article\./ })
  t.match(await readIndexSize(source.pool), { backlog: 1 })
})

t.test('an article is named by what people have of it, an outlet by its domain alone', async t => {
  const dryRun = async (...words: string[]) => {
    const { code, out } = await here('articles', 'remove', ...words, '--dry-run', '--json')
    return { code, articles: code === 2 ? null : JSON.parse(out).articles }
  }
  const [{ id }] = (await source.pool.query('select id from articles order by seq limit 1')).rows
  for (const word of [id, `http://127.0.0.1:8080/a/${id}`, 'dagkoerier.example/stays'])
    t.same(await dryRun(word), { code: 0, articles: 1 }, word)
  t.same(await dryRun('dagkoerier.example/none'), { code: 1, articles: 0 })
  t.same(await dryRun('--outlet', 'dagkoerier.example'), { code: 0, articles: 1 })
  t.match(
    await here('articles', 'remove', '--outlet', 'nowhere.example', '--reason', 'x', '--yes'),
    {
      code: 2,
      err: /No article is of an outlet with the domain nowhere\.example/,
    },
  )
  t.same(JSON.parse((await here('articles', 'clear', '--json')).out), { left: 0, listed: true })
})

t.test('a release after the backup is known, too', async t => {
  const later = join(elsewhere, 'later.backup')
  t.match(await here('backup', later), { code: 0 })
  const [{ id }] = (await source.pool.query('select id from tombstones where number = 1')).rows
  const before = await readFile(list)
  t.match(await here('articles', 'release', id), { code: 0 })
  // A folder that was away has an older list. Then both were, and the replaced database knows it.
  for (const away of [join(elsewhere, 'removals.perscope.ndjson'), list]) {
    await writeFile(away, before)
    t.match(await there('restore', later, '--yes'), { code: 0 })
    t.match(await importInto(there, 'leaves', 'later'), { indexed: 1, removed: 1 }, away)
  }
  t.match(await there('verify'), { code: 0 })
  const alone = t.testdir()
  const apart = await here('backup', join(alone, 'a.backup'))
  t.match(apart, { code: 0, err: /BACKUP_FOLDERS does not name .*is not listed beside it/ })
  const beside = (other = join(alone, 'closed')) =>
    runScript('backup', [join(alone, 'a.backup'), '--yes'], {
      DATABASE_URL: source.config.DATABASE_URL,
      BACKUP_FOLDERS: `${alone},${other}`,
      PATH: `${join(alone, 'bin')}:${process.env.PATH}`,
    })
  t.match(await beside(), { code: 0, err: /closed was not written \(/ }, 'not beside this file')
  const itsList = join(alone, 'removals.perscope.ndjson')
  t.match(await readFile(itsList, 'utf8'), /"reason" : "a court"/)
  await rm(itsList)
  await mkdir(itsList)
  t.match(await beside(), { code: 1, err: /^The list of removals in .* was not written/m })
  await rm(itsList, { recursive: true })
  await mkdir(join(alone, 'bin'))
  const ls = '#!/bin/sh\ncase "$3" in *silent*) exec sleep 60;; esac\n'
  await writeFile(join(alone, 'bin/ls'), ls, { mode: 0o755 })
  const silent = join(alone, 'silent')
  await mkdir(silent)
  t.match(await beside(silent), { code: 0, err: /silent was not written \(it does not answer\)/ })
  for (const [command, instead] of [
    ['backup', 'another'],
    ['restore', 'a copy'],
  ] as const) {
    const script = runScript(command, [join(silent, 'b.backup')], {
      DATABASE_URL: source.config.DATABASE_URL,
      PATH: `${join(alone, 'bin')}:${process.env.PATH}`,
    })
    const err = new RegExp(`silent does not answer: mend its mount, or name ${instead}`)
    t.match(await script, { code: 2, err })
  }
})

t.test(
  'a backup completes the lists, and a line that was cut is named, and the next removal writes it again',
  async t => {
    await appendFile(list, '{"installation":')
    t.match(await there('recovered'), { code: 1, err: /Line \d of .* was cut/ })
    const whole = (await readFile(list, 'utf8')).split('\n').slice(0, -1)
    await writeFile(list, `${whole.filter((_, at) => at !== 1).join('\n')}\n`)
    t.match(await here('backup', file, '--yes'), { code: 0 })
    t.ok((await readFile(list, 'utf8')).includes(whole[1]!))
  },
)

t.test('without a list it says so, and ends with 1 where there were removals', async t => {
  await target.query('update ingest_clock set last_removal = 2')
  for (const one of [folder, elsewhere]) await rm(join(one, 'removals.perscope.ndjson'))
  t.match(await there('recovered'), { code: 1, err: /There is no list of removals/ })
  t.match(
    await there('restore', file, '--yes'),
    { code: 0, err: /Took out 0 articles again, of 2 on the list/ },
    'the replaced database knows them',
  )
  await target.query('delete from tombstones')
  t.match(await there('restore', file, '--yes'), { code: 1, err: /There is no list of removals/ })
})

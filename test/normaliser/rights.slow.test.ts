import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { startFleet } from '#test/fleet'
import { articlePage, settle, storePages } from './stored.ts'

const { database, fleet } = await startFleet(t, {
  CRAWL_USER_AGENT: 'NewsBot/2 (+https://news.example/bot)',
})

const page = (path: string, head = '', ...lists: string[]) => {
  const title = `Raad spreekt over plan ${path.slice(3)}`
  const html = articlePage(title, `plan ${path.slice(3)}`).replace('</head>', `${head}</head>`)
  return { path, title, html, summary: 'Een zin van de feed.', rights: { 'x-robots-tag': lists } }
}
const articles = () =>
  database.query(`select right(url, 1) as page, snippet from article_texts order by url`)

t.test('decision 41: what outlets reserve is obeyed, kept and counted', async t => {
  await storePages(database, [
    page('/a/1'),
    page('/a/2', '<meta name="newsbot" content="noindex">'),
    page('/a/3', '', 'perscopebot: noindex', 'newsbot: nosnippet'),
    page('/a/4', '', 'noarchive, max-snippet:12'),
    page('/a/5', '', 'noindex, noarchive'),
  ])
  const normaliser = await fleet.start('normaliser')
  await settle(database, 60_000)
  const shown = await articles()
  t.match(shown, [
    { page: '1', snippet: /^Over plan 1/ },
    { page: '3', snippet: null },
    { page: '4', snippet: 'Over plan 4' },
  ])
  t.same(
    await database.query(
      `select right(p.url, 1) as page, state, reason, p.rights, s.page_no is not null or entry is not null as kept
         from pages p left join page_sources s using (page_no) order by url`,
    ),
    [
      { page: '1', state: 'done', reason: null, rights: null, kept: true },
      {
        page: '2',
        state: 'refused',
        reason: 'rights',
        rights: [{ signal: 'noindex', source: 'meta' }],
        kept: true,
      },
      {
        page: '3',
        state: 'done',
        reason: null,
        rights: [{ signal: 'nosnippet', source: 'header' }],
        kept: true,
      },
      {
        page: '4',
        state: 'done',
        reason: null,
        kept: false,
        rights: [
          { signal: 'noarchive', source: 'header' },
          { signal: 'max-snippet:12', source: 'header' },
        ],
      },
      {
        page: '5',
        state: 'refused',
        reason: 'rights',
        kept: false,
        rights: [
          { signal: 'noindex', source: 'header' },
          { signal: 'noarchive', source: 'header' },
        ],
      },
    ],
  )
  t.same(
    await database.query('select signal, source, pages, value from outlet_rights order by 1, 2'),
    [
      { signal: 'max-snippet', source: 'header', pages: 1, value: '12' },
      { signal: 'noarchive', source: 'header', pages: 2, value: null },
      { signal: 'noindex', source: 'header', pages: 1, value: null },
      { signal: 'noindex', source: 'meta', pages: 1, value: null },
      { signal: 'nosnippet', source: 'header', pages: 1, value: null },
    ],
  )
  t.match(normaliser.log(), 'an outlet states rights that it did not state before')
})

t.test('no command undoes it', async t => {
  const before = await articles()
  await database.query("update article_texts set snippet = 'Te kort' where url like '%/a/1'")
  await fleet.script('reindex', '--snippets')
  t.same(await articles(), before)
})

t.test(
  'decision 41: index-only is found by words, and no vector waits for it; a licence outweighs it',
  async t => {
    const vectors = () =>
      database.query(
        `select right(url, 1) as page, e.seq is not null as promised from articles a join article_texts t using (seq)
         left join embeddings e using (seq) where url like '%/b/%' order by url`,
      )
    const reserved = (path: string) => ({
      ...page(path),
      rights: { 'tdm-reservation': ['1'], 'tdm-policy': ['https://x.example/p'] },
    })
    await storePages(database, [reserved('/b/1')])
    await settle(database, 60_000)
    t.same(await vectors(), [], 'by default it is refused')
    const settled = await fleet.start('normaliser', { RIGHTS_TDM: 'index-only' })
    for (const { process } of fleet.members.filter(one => one !== settled)) process.kill('SIGTERM')
    await Promise.all(fleet.members.filter(one => one !== settled).map(({ exited }) => exited))
    await storePages(database, [reserved('/b/2'), page('/b/3')])
    await settle(database, 60_000)
    await database.query(
      "update outlets set licence = 'Overeenkomst 12' where domain = 'dagkoerier.example'",
    )
    await storePages(database, [reserved('/b/4')])
    await settle(database, 60_000)
    t.same(await vectors(), [
      { page: '2', promised: false },
      { page: '3', promised: true },
      { page: '4', promised: true },
    ])
    const open = async () => JSON.parse(await fleet.script('status', '--json'))
    t.match(await open(), { articles: 6, embedded: 0 })
    await database.query('update embeddings set embedded_at = now()')
    t.match(await open(), { embedded: 5, embeddings: { promised: 0, due: 0 } })
    t.match(
      await fleet.script('outlets', 'list'),
      /states .*tdm-reservation:1 \(header, [\d.]+ (?:s|min) ago\)/,
    )
    const shown = await fleet.script('explain', 'https://www.dagkoerier.example/b/2')
    t.match(shown, /^Article .*\n.*tdm-policy:https:\/\/x\.example\/p/m)
  },
)

t.test('an export that is imported elsewhere keeps the bounds of its articles', async t => {
  const bounds = (db: typeof database) =>
    db.query(
      `select right(t.url, 4) as page, t.snippet, r.snippet as bounded, coalesce(r.vector, true) as vector,
              e.seq is not null as promised
         from articles a join article_texts t using (seq) left join article_rights r using (id)
         left join embeddings e using (seq) order by t.url`,
    )
  const file = join(t.testdir(), 'all.ndjson')
  const lines = await fleet.script('export', '--body')
  await writeFile(file, lines)
  const { database: elsewhere, fleet: others } = await startFleet(t)
  await others.script('import', file)
  t.same(await bounds(elsewhere), await bounds(database))
  await others.script('reindex', '--snippets')
  t.same(await bounds(elsewhere), await bounds(database))
  await writeFile(file, `${lines.split('\n')[0]?.replace(/}$/, ', "rights": {"vector": "no"}}')}\n`)
  await t.rejects(others.script('import', file, '--dry-run'), /rights must be an object/)
})

t.test('explain tells the signals of a page', async t => {
  t.match(
    await fleet.script('explain', 'https://www.dagkoerier.example/a/2'),
    /^Rights that its outlet states: noindex \(meta\); seen at 20\d\d-\S+Z\.\nToday it would make no article \(refused: rights\./m,
  )
  const gone = fleet.script('explain', 'https://www.dagkoerier.example/a/4').catch(String)
  t.match(
    await gone,
    /noarchive \(header\), max-snippet:12 \(header\); seen at 20/,
    'of one that is not kept, too',
  )
})

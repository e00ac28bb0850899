import t from 'tap'
import { LOOKS_A_DAY, lookAgain } from '#scripts/outlets/second-looks'
import { askAgain, lookAround } from '#services/crawler/second-looks'
import { composerOptions, openComposer } from '#services/normaliser/composer'
import { type Judging, judgeAnswer } from '#services/normaliser/second-looks'
import { addressKey } from '#shared/articles/address'
import type { Config } from '#shared/config/config'
import { createWriter } from '#shared/removals/bounding'
import { removeArticles } from '#shared/removals/remove'
import { runScript } from '#test/script'
import { newArticle, openTestWriter } from '#test/search/short-articles'
import { startScene } from './crawl.ts'
import { type Handler, redirect, reply } from './site.ts'

const { run, site, sites, at } = await startScene(t, ['127.0.0.61', '127.0.0.62'])
const { pool, crawl } = run
const DOMAIN = 'x.example'
const TITLE = 'De gemeenteraad stemt over het plan'
const HTML = { 'content-type': 'text/html; charset=utf-8' }
const page = (head = '') =>
  `<!doctype html><html lang="nl"><head><title>${TITLE}</title>${head}</head><body><article><h1>${TITLE}</h1>${'<p>De gemeenteraad heeft dinsdag lang over het plan gesproken en stemt volgende week.</p>'.repeat(6)}</article></body></html>`
const good = reply(200, HTML, page())
const NOINDEX = '<meta name="robots" content="noindex">'

await run.outlets({ [DOMAIN]: [at('/feed.xml'), `${sites[1]!.origin}/feed.xml`] })
const { writer } = openTestWriter(pool)

/** Indexes an article of the page, and forgets all others of the outlet. */
async function indexed(path: string, handler: Handler, from = site): Promise<string> {
  await pool.query('delete from second_looks')
  await pool.query('delete from article_texts')
  return indexedBeside(path, handler, from)
}

async function indexedBeside(path: string, handler: Handler, from = site): Promise<string> {
  from.on(path, handler)
  const url = from.origin + path
  const body = 'De gemeenteraad heeft dinsdag lang over het plan gesproken. '.repeat(8)
  const outlet = { name: DOMAIN, domain: DOMAIN }
  const addresses = [addressKey(url)]
  const [made] = await writer.write([newArticle(1, { title: TITLE, body, url, addresses, outlet })])
  return made!.id
}

const seqOf = async (id: string) =>
  BigInt((await pool.query('select seq from articles where id = $1', [id])).rows[0].seq)
const outletNo = async () =>
  Number((await pool.query('select outlet_no from outlets')).rows[0].outlet_no)

const signal = new AbortController().signal
const openedFor = (settings: Partial<Config>) => {
  const options = composerOptions({ ...crawl.config, ...settings })
  const composer = openComposer({ ...options, threads: 1 })
  t.teardown(() => composer.close())
  return composer
}
const composers = {
  refuse: openedFor({}),
  'index-only': openedFor({ RIGHTS_TDM: 'index-only' }),
}

/** A look at what is due, a day after the last one. */
async function look(settings: Settings = {}, hours = 25) {
  await pool.query("update second_looks set looked_at = looked_at - $1 * interval '1 hour'", [
    hours,
  ])
  const { rows } = await pool.query('select outlet_no as no from outlets')
  const config = { ...crawl.config, ...settings }
  const composer = composers[settings.RIGHTS_TDM ?? 'refuse']
  const write = await createWriter(pool, config)
  const outlet = { domain: DOMAIN, no: Number(rows[0].no) }
  return lookAgain({ pool, config, composer, write, signal }, outlet)
}
interface Settings {
  RIGHTS_TDM?: 'index-only'
  RIGHTS_GONE?: 'blank' | 'remove'
  RIGHTS_NOINDEX?: 'keep' | 'remove'
}
const state = async (id: string) => {
  const { rows } = await pool.query(
    `select t.snippet is not null as snippet, e.seq is not null as vector, l.refusals,
            (select reason from tombstones d where d.seq = a.seq) as reason
       from articles a left join article_texts t using (seq) left join embeddings e using (seq)
            left join second_looks l on l.id = a.id where a.id = $1`,
    [id],
  )
  return rows[0]
}
const WHOLE = { snippet: true, vector: true }
const BLANK = { snippet: false, vector: false }
const NONE = { asked: 1, gone: 0, refused: 0, blanked: 0, removed: 0, putOff: 0 }

t.test('a page that still stands changes nothing, and is asked once a day', async t => {
  const id = await indexed('/good', good)
  t.same(await look(), NONE)
  t.match(await state(id), { ...WHOLE, refusals: 0 })
  t.equal(site.to('/robots.txt').length, 1, 'robots.txt is asked')
  t.match(await look({}, 0), { asked: 0, putOff: 0 })
  t.equal(site.to('/good').length, 1)
})

t.test('what a page says later is done as the settings say', async t => {
  site.on('/hidden', reply(200, HTML, page(NOINDEX)))
  const cases = [
    ['gone', reply(410), {}, WHOLE],
    ['missing', reply(404), { RIGHTS_GONE: 'blank' }, BLANK],
    ['noindex', reply(200, HTML, page(NOINDEX)), {}, BLANK],
    ['kept', reply(200, HTML, page(NOINDEX)), { RIGHTS_NOINDEX: 'keep' }, WHOLE],
    ['header', reply(200, { ...HTML, 'x-robots-tag': 'noindex' }, page()), {}, BLANK],
    ['mined', reply(200, { ...HTML, 'tdm-reservation': '1' }, page()), {}, BLANK],
    [
      'meta',
      reply(200, HTML, page('<meta name="tdm-reservation" content="1">')),
      { RIGHTS_TDM: 'index-only' },
      { snippet: true, vector: false },
    ],
    ['moved', redirect(at('/good')), { RIGHTS_GONE: 'blank' }, WHOLE],
    ['astray', redirect(at('/hidden')), {}, WHOLE],
    ['failing', reply(500), { RIGHTS_GONE: 'blank' }, WHOLE],
    ['forbidden', reply(403), { RIGHTS_GONE: 'blank' }, WHOLE],
  ] as const
  for (const [name, handler, settings, left] of cases) {
    const id = await indexed(`/${name}`, handler)
    t.equal((await look(settings)).asked, 1, name)
    t.match(await state(id), left, name)
  }
})

t.test('a tdmrep.json that came later counts', async t => {
  const other = sites[1]!
  other.on('/.well-known/tdmrep.json', JSON.stringify([{ location: '/', 'tdm-reservation': 1 }]))
  const id = await indexed('/file', good, other)
  t.match(await look(), { refused: 1, blanked: 1 })
  t.match(await state(id), BLANK)
})

t.test('an article is taken out after three refusals over a week, and not before', async t => {
  const settings = { RIGHTS_GONE: 'remove', RIGHTS_NOINDEX: 'remove' } as const
  const ago = (days: number) =>
    pool.query("update second_looks set refused_since = now() - $1 * interval '1 day'", [days])
  const id = await indexed('/ends', reply(410))
  t.match(await look(settings), { gone: 1, removed: 0 })
  await ago(30)
  t.match(await look(settings), { gone: 1, removed: 0 }, 'two are too few')
  site.on('/ends', good)
  t.match(await look(settings), NONE)
  t.match(await state(id), { ...WHOLE, refusals: 0 }, 'one good answer is the end of it')
  site.on('/ends', reply(200, HTML, page(NOINDEX)))
  await look(settings)
  await look(settings)
  await ago(6)
  t.match(await look(settings), { refused: 1, removed: 0 }, 'less than a week')
  site.on('/ends', reply(503))
  t.match(await look(settings), { refused: 0, removed: 0 })
  t.match(await state(id), { ...WHOLE, refusals: 3 }, 'a failure neither counts nor resets')
  site.on('/ends', reply(200, HTML, page(NOINDEX)))
  await ago(8)
  t.match(await look(settings), { refused: 1, removed: 1 })
  const { snippet, refusals, reason } = await state(id)
  t.same([snippet, refusals], [false, null])
  t.match(reason, /^The publisher's word: noindex, at each look since \d{4}-\d\d-\d\d\.$/)
  t.match(await look(settings), { asked: 0 })
  const { rows } = await pool.query('select seq from tombstones where id = $1', [id])
  const bound = { seq: rows[0].seq, id, pageNo: null, snippet: null }
  await (await createWriter(pool, crawl.config))([{ ...bound, isBounded: true, hasVector: false }])
  const rights = await pool.query('select from article_rights where id = $1', [id])
  t.equal(rights.rowCount, 0, 'who bounds it late leaves nothing of it')
})

t.test(
  'nothing is asked of a host that is visited or has new pages, nor beyond a day’s share',
  async t => {
    await indexed('/later', good)
    const visited =
      'update hosts set leased_until = now() + $1::interval, holder = gen_random_uuid()'
    await pool.query(visited, ['1 minute'])
    t.match(await look(), { asked: 0, putOff: 1 })
    await pool.query("update hosts set leased_until = 'epoch', holder = null")
    await pool.query(
      `insert into pages (outlet_no, url, crawl_key, host) select outlet_no, $1, $1, $2 from outlets`,
      [at('/new'), site.host],
    )
    t.match(await look(), { asked: 0, putOff: 1 })
    await pool.query('delete from pages')
    await pool.query(
      `insert into second_looks (id, outlet_no, looked_at)
     select 'other' || n, outlet_no, now() + interval '1 day' from outlets, generate_series(1, $1) n`,
      [LOOKS_A_DAY],
    )
    t.match(await look(), { asked: 0, putOff: 0 })
    await pool.query('delete from second_looks')
    t.match(await look(), { asked: 1 })
    site.on('/robots.txt', 'User-agent: *\nDisallow: /')
    await pool.query("update hosts set robots = null, robots_until = 'epoch'")
    site.on('/later', reply(410))
    t.match(await look({ RIGHTS_GONE: 'blank' }), { asked: 1, gone: 0 })
    t.equal(site.to('/later').length, 1, 'robots.txt forbids it now')
    site.on('/robots.txt', reply(404))
    await pool.query("update hosts set robots = null, robots_until = 'epoch'")
  },
)

const waiting = async () => (await pool.query('select id from look_answers')).rows
const judgingAs = async (settings: Settings, write?: Judging['write']): Promise<Judging> => {
  const config = { ...crawl.config, ...settings }
  const own = write ?? (await createWriter(pool, config))
  return { pool, config, composer: composers.refuse, write: own, signal }
}

t.test('the crawler asks by itself, few pages of an outlet a day and spread over it', async t => {
  const id = await indexed('/own', reply(410))
  const own = (settings: Partial<Config>) =>
    lookAround({ ...crawl, config: { ...crawl.config, ...settings } }, 0)
  await own({ RIGHTS_LOOKS: 0 })
  await own({ RIGHTS_NOINDEX: 'keep' })
  await pool.query('update outlets set active = false')
  await own({})
  await pool.query('update outlets set active = true')
  t.equal(site.to('/own').length, 0, 'who wants no looks has none')
  await own({})
  t.same(await waiting(), [{ id }], 'what it answered waits')
  const other = await indexedBeside('/beside', good)
  await own({})
  t.equal(site.to('/beside').length, 0, 'the next one comes later in the day')
  await pool.query("update second_looks set looked_at = now() - interval '59 minutes'")
  await own({})
  t.equal(site.to('/beside').length, 0)
  await pool.query("update second_looks set looked_at = now() - interval '61 minutes'")
  await own({})
  t.equal(site.to('/beside').length, 1)
  t.same((await waiting()).length, 2)
  const due = { seq: await seqOf(other), id: other, url: at('/beside'), outletNo: await outletNo() }
  t.equal(await askAgain(crawl, { ...due, id: 'third' }, 2), 'put off', 'both crawlers count')

  await pool.query("update second_looks set looked_at = looked_at - interval '25 hours'")
  await own({})
  t.equal(site.to('/own').length + site.to('/beside').length, 2, 'none is asked while one waits')
  const judging = await judgingAs({ RIGHTS_GONE: 'remove' })
  t.same(await judgeAnswer(judging), { id, word: 'gone', deed: 'none' })
  t.same(await judgeAnswer(judging), { id: other, word: 'stands', deed: 'none' })
  t.equal(await judgeAnswer(judging), null)
  await own({})
  t.equal(site.to('/own').length, 2, 'what may be taken out is asked first')
})

t.test('a look that is begun again is counted once', async t => {
  const id = await indexed('/killed', reply(200, HTML, page(NOINDEX)))
  await lookAround(crawl, 0)
  const killed = await judgingAs({}, () => Promise.reject(new Error('killed')))
  await t.rejects(judgeAnswer(killed), /killed/)
  t.match(await state(id), { ...WHOLE, refusals: 1 })
  const judging = await judgingAs({})
  t.equal(await judgeAnswer(judging), null, 'another process may have it in hand')
  await pool.query("update look_answers set claimed_until = 'epoch'")
  const ended = { ...judging, signal: AbortSignal.abort() }
  t.equal(await judgeAnswer(ended), null, 'who ends leaves it')
  await Promise.all([judgeAnswer(judging, id), judgeAnswer(judging, id)])
  t.match(await state(id), { ...BLANK, refusals: 1 })
  t.same(await waiting(), [])
})

t.test('an answer goes with the article that an operator takes out', async t => {
  const id = await indexed('/taken', good)
  await lookAround(crawl, 0)
  t.same(await waiting(), [{ id }])
  await removeArticles(pool, [{ seq: await seqOf(id), id }], 'order of a court')
  t.same(await waiting(), [])
  t.equal(await judgeAnswer(await judgingAs({})), null)
})

t.test('the command asks, and says how much', async t => {
  const id = await indexed('/command', reply(410))
  const { DATABASE_URL, CRAWL_HOST_DELAY } = crawl.config
  const env = {
    DATABASE_URL,
    CRAWL_HOST_DELAY: `${CRAWL_HOST_DELAY}ms`,
    CRAWL_ALLOW_PRIVATE: '127.0.0.0/8',
    RIGHTS_GONE: 'remove',
  }
  const apply = () => runScript('outlets', ['rights', DOMAIN, '--apply'], env)
  const first = await apply()
  t.match(
    first.err,
    /Asked again for 1 page \(at most 100 of an outlet a day\): 1 gone, 0 refused; 0 articles blanked, 0 taken out\./,
  )
  t.equal(first.code, 0)
  await pool.query(
    "update second_looks set refusals = 2, refused_since = 'epoch', looked_at = 'epoch'",
  )
  const second = await apply()
  t.match(second, { code: 0, err: /1 taken out/ })
  t.match(await state(id), { reason: /the outlet answers 410, at each look since 1970-01-01/ })
  t.equal((await pool.query('select from tombstones where cleared_at is null')).rowCount, 0)
})

import t from 'tap'
import { outletOf, rss } from '#test/crawler/crawl'
import { reply, startSite } from '#test/crawler/site'
import { QUICK_CRAWL, startFleet, until } from '#test/fleet'
import { articlePage, storePages } from '#test/normaliser/stored'
import { jsonLines } from '#test/script'
import { createWorld } from '#test/semantic/world'
import { ENDS } from './ending-answer.ts'

const HOOK = { NODE_OPTIONS: `--import ${new URL('./ending-answer.ts', import.meta.url).href}` }
// They wait most of their time, each on a database of its own.
t.jobs = 3
const POISON = reply(200, { 'content-type': 'text/html', 'x-poison': 'yes' }, 'poison')

t.test(
  'what ends a process three times rests, is named, and is tried once a day; kills count nothing',
  async t => {
    const site = await startSite()
    t.teardown(() => site.close())
    const { database, fleet } = await startFleet(t, QUICK_CRAWL)
    const page = (path: string) => site.origin + path
    site.on('/feed', rss(...['/a', '/poison', '/b', '/slow', '/c'].map(page)))
    site.on('/bad-feed', POISON)
    site.on('/poison', POISON)
    site.on('/slow', () => {})
    for (const path of ['/a', '/b', '/c'])
      site.on(path, reply(200, { 'content-type': 'text/html' }, articlePage('Raad', path)))
    await fleet.sync({
      outlets: [
        outletOf(`127.0.0.1:${site.port}`, ['/feed', '/bad-feed'].map(page), { hosts: [] }),
      ],
    })
    const ofPage = async (path: string) =>
      (
        await database.query(
          `select state, ends, extract(epoch from rests_until - now())::float8 as wait from pages where url = '${page(path)}'`,
        )
      )[0]
    const hurry = () =>
      database.query(`update pages set next_try_at = now(), rests_until = now() where ends between 1 and 2;
                    update feeds set next_poll_at = now() where ends between 1 and 2`)

    let ends = 0
    const crawl = async () => {
      const crawler = await fleet.start('crawler', { ...HOOK, CRAWL_TIMEOUT: '5s' })
      await Promise.race([
        crawler.exited,
        until(
          async () => (await ofPage('/poison'))?.ends === 3 && (await badFeed()) === 3,
          60_000,
        ).catch(() => {}),
      ])
      // The note comes before the end.
      await Promise.race([crawler.exited, new Promise(resolve => setTimeout(resolve, 3_000))])
      if (crawler.process.exitCode === null) return crawler
      t.equal(crawler.process.exitCode, 1)
      ends += 1
      await hurry()
      return null
    }
    const badFeed = async () =>
      Number(
        (await database.query(`select ends from feeds where url = '${page('/bad-feed')}'`))[0]
          ?.ends,
      )
    let crawler = await crawl()
    while (crawler === null && ends < 12) crawler = await crawl()
    t.equal(ends, 6, 'three ends for the page, three for the feed')
    await until(
      async () => (await database.count("pages where state = 'stored'")) === 3,
      30_000,
      fleet.logs,
    )
    t.match(await ofPage('/poison'), { state: 'waiting', ends: 3 })
    t.ok(Math.abs(Number((await ofPage('/poison'))?.wait) - 86_400) < 120)
    t.match(await ofPage('/slow'), { ends: 0 }, 'what was in hand beside it is not blamed')

    const listed = jsonLines(await fleet.script('pages', 'list', '--json'))
    const poison = listed.find(({ url }) => url === page('/poison'))
    t.match(poison, { reason: 'ended a process', detail: /falsy|poison|assert/i })
    const status = JSON.parse(await fleet.script('status', '--json'))
    t.equal(status.pages.resting, 1)
    t.equal(status.feeds.resting, 1)
    for (const what of ['page', 'feed'])
      t.match(
        JSON.stringify(status.causes),
        `1 ${what} ended a process three times, and is tried once a day`,
      )

    for (let n = 0; n < 3; n++) {
      await database.query(
        `update hosts set leased_until = now(), free_at = now(), permit = null;
       update pages set next_try_at = now() where ends = 0 and state = 'waiting'`,
      )
      await until(
        () => site.to('/slow').some(({ until }) => until === Number.POSITIVE_INFINITY),
        40_000,
        fleet.logs,
      )
      crawler?.process.kill('SIGKILL')
      await crawler?.exited
      crawler = await fleet.start('crawler', HOOK)
    }
    t.match(await ofPage('/slow'), { ends: 0 })

    crawler?.process.kill('SIGTERM')
    await crawler?.exited
    for (const path of ['/poison', '/slow'])
      site.on(path, reply(200, { 'content-type': 'text/html' }, articlePage('Raad', path)))
    await database.query(
      `update hosts set leased_until = now(), free_at = now(), permit = null;
     update pages set next_try_at = now(), rests_until = now() where ends = 3`,
    )
    await fleet.start('crawler')
    await until(async () => (await ofPage('/poison'))?.state === 'stored', 60_000, fleet.logs)
    t.match(await ofPage('/poison'), { ends: 0 }, 'the day after it is an answer like others')
  },
)

t.test('a stored page rests for the normaliser, too', async t => {
  const { database, fleet } = await startFleet(t)
  const [resting, other] = await storePages(
    database,
    ['/1', '/2'].map(path => ({
      path,
      html: articlePage(`Raad ${path}`, path),
      title: `Raad ${path}`,
    })),
  )
  await database.query(
    `update pages set rests_until = now() + interval '1 day' where page_no = ${resting}`,
  )
  await fleet.start('normaliser')
  const state = async (no: unknown) =>
    (await database.query(`select state from pages where page_no = ${no}`))[0]?.state
  await until(async () => (await state(other)) === 'done', 60_000, fleet.logs)
  await new Promise(resolve => setTimeout(resolve, 3_000))
  t.equal(await state(resting), 'stored')
  await database.query(
    `update pages set rests_until = now(), next_try_at = now() where page_no = ${resting}`,
  )
  await until(async () => (await state(resting)) === 'done', 60_000, fleet.logs)
})

t.test(
  'what ends the normaliser or the embedder three times rests, and nothing beside it',
  async t => {
    const { database, fleet } = await startFleet(t)
    const pages = ['/1', '/2', '/3'].map((path, at) => ({
      path,
      title: `Raad ${path}`,
      html: articlePage(`Raad ${path}`, at === 1 ? ENDS : path),
    }))
    await storePages(database, pages)
    const world = await createWorld(t)
    await world.index([{ title: 'a' }, { title: ENDS }, { title: 'b' }])
    const ofWorld = { query: async (sql: string) => (await world.pool.query(sql)).rows }
    const services = [
      ['normaliser', fleet, database, 'pages', "state = 'done'", 'next_try_at'],
      ['embedder', world.fleet, ofWorld, 'embeddings', 'embedded_at is not null', 'claimed_until'],
    ] as const
    const tries = services.map(async ([service, members, db, table, isDone, waits]) => {
      const all = () =>
        db.query(
          `select ends, ${isDone} as done, rests_until > now() + interval '23 h' as rests from ${table} order by 1, 2`,
        )
      for (let ended = 0; ended < 3; ended++) {
        const member = await members.start(service, HOOK)
        await until(() => member.process.exitCode !== null, 150_000, members.logs)
        t.equal(member.process.exitCode, 1)
        await db.query(
          `update ${table} set rests_until = now(), ${waits} = now() where ends between 1 and 2`,
        )
      }
      await members.start(service, HOOK)
      await until(
        async () => (await all()).filter(({ done }) => done).length === 2,
        60_000,
        members.logs,
      )
      t.match((await all()).at(-1), { ends: 3, done: false, rests: true }, service)
      t.ok((await all()).slice(0, 2).every(({ ends }) => Number(ends) <= 1))
      const status = JSON.parse(await members.script('status', '--json'))
      t.equal(status[table].resting, 1)
      t.equal(status.embedded, service === 'embedder' ? 2 : 0)
      const checks = await members.script('doctor').catch(error => String(error.stdout ?? error))
      t.match(
        checks,
        `1 ${service === 'embedder' ? 'embedding' : 'page'} ended a process three times`,
      )
    })
    await Promise.all(tries)
  },
)

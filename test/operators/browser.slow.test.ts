import { fileURLToPath } from 'node:url'
import type { BrowserContextOptions } from 'playwright-core'
import t from 'tap'
import { noSemanticSearch, startTestApi } from '#test/contract/api'
import { startRedis } from '#test/queues/redis'
import { openDoor } from '#test/standbys/door'
import { axe, browserPath, launch, open as openPage, overhang } from '#test/web/browser'
import { putFleetToWork } from './fleet-at-work.ts'

const KEY = 'a-key-for-operators-of-tests'
/** Set to draw the picture of the README anew. */
const PICTURE = process.env.PICTURES
  ? fileURLToPath(new URL('../../docs/pictures/status.png', import.meta.url))
  : null
const redis = await startRedis()
t.teardown(() => redis.stop())
const NAME = '<img src=x onerror="document.title=1"> De Stille'

if (browserPath === undefined) {
  t.test(
    'the pages for operators in a browser',
    { skip: 'no chromium on this machine' },
    async () => {},
  )
} else {
  const api = await startTestApi(t, { OPERATOR_KEY: KEY, REDIS_URL: redis.url ?? '' })
  const browser = await launch(t)
  await api.pool.query(
    `with o as (
       insert into outlets (domain, name, country, languages, time_zone)
       select 'o' || i || '.example', case i when 1 then $1 else 'Krant ' || i end, 'NL', '{nl}', 'Europe/Amsterdam'
         from generate_series(1, 130) i returning outlet_no, domain)
     insert into feeds (outlet_no, url, kind, host, last_success_at, last_new_at, failures, last_error)
     select outlet_no, 'https://' || domain, 'feed', domain, now(), now(), case when domain = 'o1.example' then 3 else 0 end,
            case when domain = 'o1.example' then '<b>503</b> ' || repeat('x', 300) end from o`,
    [NAME],
  )

  const httpCredentials = { username: 'me', password: KEY }
  const open = (path: string, options: BrowserContextOptions = {}, base = api.base) =>
    openPage(browser, base, path, { httpCredentials, ...options })

  t.test(
    'the page shows the flow, the outlets in trouble first, and what comes meanwhile',
    async t => {
      const { page, complaints, close } = await open('/status', {
        viewport: { width: 1280, height: 900 },
      })
      const rows = page.locator('.outlet-table tbody tr')
      const search = page.getByRole('searchbox', { name: 'Find an outlet' })
      await rows.first().waitFor()
      t.equal(await page.locator('.flow .step').count(), 7)
      const shown = await page.locator('.flow').innerText()
      t.match(
        shown,
        /Crawler\s+not there\s+0[\s\S]*Pages\s+0\s+to fetch now[\s\S]*API\s+needs attention/,
      )
      t.match(
        await page.locator('.problems').innerText(),
        /No crawler is connected[\s\S]*1 outlet cannot be read/,
      )
      t.equal(
        await rows.first().locator('.outlet-name').innerText(),
        NAME,
        'a name is text, whatever it holds',
      )
      t.match(await rows.first().innerText(), '<b>503</b>')
      t.equal(
        await page.getByRole('region', { name: 'Machines' }).locator('p').innerText(),
        `Everything runs on one machine; Postgres${redis.url === null ? ' has' : ' and Redis have'} no copies elsewhere.`,
      )
      t.equal(await page.title(), 'Perscope status')
      t.equal(await rows.count(), 20, 'a page of them')
      await page.getByRole('button', { name: 'Show 40 more of 110' }).click()
      t.equal(await rows.count(), 60)
      await search.fill('krant 77')
      t.equal(await rows.count(), 1)

      await api.pool.query(
        `insert into pages (outlet_no, url, crawl_key, host) select outlet_no, 'x', 'x', domain from outlets where domain = 'o2.example'`,
      )
      await page.locator('.step', { hasText: 'Pages' }).getByText('1', { exact: true }).waitFor()
      t.pass('a new page shows without a reload')
      t.equal(await search.inputValue(), 'krant 77', 'what was typed stays')
      t.strictSame(complaints, [], 'nothing from elsewhere, no complaint')
      await close()
    },
  )

  t.test('the keyboard alone suffices, and figures that come take no focus away', async t => {
    const { page, close } = await open('/status')
    await page.locator('.outlet-table').waitFor()
    await page.getByText('These figures as a table').focus()
    await page.keyboard.press('Enter')
    t.equal(await page.getByRole('row', { name: /^\d\d:00 0 – – – –$/ }).count(), 24)
    await page.getByRole('button', { name: 'all 130' }).focus()
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    t.equal(await page.locator('.outlet-table tbody tr').count(), 1, 'the failing one')
    await page.waitForResponse('**/status/figures')
    await page.waitForResponse('**/status/figures')
    t.match(await page.locator(':focus').innerText(), /^failing/)
    t.equal(await page.locator(':focus').getAttribute('aria-pressed'), 'true')
    await close()
  })

  t.test('an address that holds the name and the password works too', async t => {
    const { host } = new URL(api.base)
    const { page, close } = await openPage(browser, `http://me:${KEY}@${host}`, '/status')
    await page.locator('.outlet-table').waitFor()
    t.pass('its figures come')
    await close()
  })

  t.test('when the API is gone the page says so, and keeps what it knew', async t => {
    const { page, close } = await open('/status')
    await page.locator('.outlet-table').waitFor()
    await page.route('**/status/figures', route => route.abort())
    await page.getByText('The API does not answer.').waitFor()
    t.ok(await page.locator('main.stale .outlet-table').isVisible())
    t.strictSame(await axe(page), [])
    await page.unroute('**/status/figures')
    await page.locator('main:not(.stale)').waitFor()
    t.pass('and recovers by itself')
    await close()
  })

  t.test('the page says what it does not know while Postgres is away', async t => {
    const door = await openDoor(() => new URL(api.config.DATABASE_URL))
    t.teardown(() => door.close())
    const env = { OPERATOR_KEY: KEY }
    const other = await startTestApi(t, env, noSemanticSearch, async url => door.to(url))
    const { page, close } = await open('/status', {}, other.base)
    await page.getByText('There are no outlets').waitFor()
    door.shut()
    await page.getByText('answers this page').waitFor()
    const shown = await page.locator('.flow').innerText()
    t.match(shown, /Crawler\s+not known[\s\S]*API\s+needs attention/)
    t.match(await page.locator('.problems').innerText(), 'Postgres')
    await close()
  })

  t.test('the page says so when there is nothing yet, and when a part cannot be read', async t => {
    const other = await startTestApi(t, { OPERATOR_KEY: KEY })
    const { page, close } = await open('/status', {}, other.base)
    await page.getByText('There are no outlets').waitFor()
    const shown = await page.locator('main').innerText()
    t.match(shown, /No crawled article was embedded[\s\S]*Empty: nothing has failed for good/)
    t.strictSame(await axe(page), [], 'nothing yet')
    await other.pool.query('alter table outlets rename to outlets_away')
    await page.getByText('Could not be read in time: outlets').waitFor()
    t.match(await page.getByRole('region', { name: 'Outlets' }).innerText(), 'Could not be read.')
    t.strictSame(await axe(page), [], 'unread')
    await close()
  })

  t.test(
    'a fleet at work: it fits every screen, light and dark, and axe finds nothing',
    async t => {
      const other = await startTestApi(t, { OPERATOR_KEY: KEY })
      const stop = await putFleetToWork(other)
      t.teardown(stop)
      const client = await other.issue()
      for (let asked = 0; asked < 40; asked++) await other.ask(client.secret, '/v1/articles')
      for (const [width, height, colorScheme] of [
        [360, 740, 'light'],
        [390, 844, 'dark'],
        [820, 1180, 'light'],
        [1280, 900, 'dark'],
        [1280, 1340, 'light'],
        [3840, 2160, 'dark'],
      ] as const) {
        const { page, complaints, close } = await open(
          '/status',
          { viewport: { width, height }, colorScheme },
          other.base,
        )
        const told = page.locator('figure .told').first()
        await page.locator('.plots canvas').nth(2).waitFor()
        const plot = page.getByRole('img', { name: /^Articles by hour: 600/ })
        await plot.hover()
        await told.filter({ hasText: /^\d\d:00: \d+ articles$/ }).waitFor()
        await page.mouse.move(0, 0)
        await told.filter({ hasText: 'crawled and indexed in 24 hours' }).waitFor()
        const bright = await page.evaluate('getComputedStyle(document.body).backgroundColor')
        t.equal(
          /rgb\(2\d\d/.test(String(bright)),
          colorScheme === 'light',
          `${width} pixels, ${colorScheme}`,
        )
        if (PICTURE && height === 1340)
          await page.screenshot({ path: PICTURE, animations: 'disabled' })
        await page.getByText('These figures as a table').click()
        t.ok((await overhang(page)) <= 0, 'nothing sticks out')
        t.strictSame(await axe(page), [])
        t.strictSame(complaints, [])
        await close()
      }
    },
  )
}

import { existsSync } from 'node:fs'
import { type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import t from 'tap'
import { startTestApi } from '../contract/api.ts'
import { startRedis } from '../queues/redis.ts'

t.setTimeout(280_000)

const KEY = 'a-key-for-operators-of-tests'
const browserPath = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync)
const redis = await startRedis()
t.teardown(() => redis.stop())
const NAME = '<img src=x onerror="document.title=1"> De Stille'

if (browserPath === undefined) {
  t.test('the pages for operators in a browser', { skip: 'no chromium on this machine' }, async () => {})
} else {
  const api = await startTestApi({ OPERATOR_KEY: KEY, REDIS_URL: redis.url ?? '' })
  t.teardown(() => api.stop())
  const browser = await chromium.launch({ executablePath: browserPath, args: ['--no-sandbox'] })
  t.teardown(() => browser.close())
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

  /** The page in a browser, with its requests and its errors. */
  const open = async (path: string, options: BrowserContextOptions) => {
    const context = await browser.newContext({ httpCredentials: { username: 'me', password: KEY }, ...options })
    context.setDefaultTimeout(90_000) // on a busy machine
    const page = await context.newPage()
    const heard: string[] = []
    page.on('console', message => ['error', 'warning'].includes(message.type()) && heard.push(message.text()))
    page.on('pageerror', error => heard.push(error.message))
    page.on('request', request => request.url().startsWith(api.base) || heard.push(`asked ${request.url()}`))
    await page.goto(`${api.base}${path}`)
    return { page, heard, close: () => context.close() }
  }
  /** A figure computed in the page. */
  const measure = (page: Page, expression: string): Promise<unknown> => page.evaluate(expression)

  t.test('the page shows the flow, the outlets in trouble first, and what comes meanwhile', async t => {
    const { page, heard, close } = await open('/status', { viewport: { width: 1280, height: 900 } })
    await page.waitForSelector('.outlet-table')
    t.equal(await page.locator('.flow .step').count(), 7)
    t.match(
      await page.locator('.flow').getAttribute('aria-label'),
      /Crawler, not there.*Pages: 0.*API, needs attention/,
    )
    t.match(await page.locator('#problems').innerText(), /No crawler is connected[\s\S]*1 outlet cannot be read/)
    const first = page.locator('.outlet-table tbody tr').first()
    t.equal(await first.locator('.outlet-name').innerText(), NAME, 'a name is text, whatever it holds')
    t.match(await first.innerText(), '<b>503</b>')
    t.equal(await page.title(), 'Perscope status')
    t.equal(await page.locator('.outlet-table tbody tr').count(), 20, 'a page of them')
    await page.locator('.more').click()
    t.equal(await page.locator('.outlet-table tbody tr').count(), 60)
    await page.locator('#search').fill('krant 77')
    t.equal(await page.locator('.outlet-table tbody tr').count(), 1)

    await api.pool.query(
      `insert into pages (outlet_no, url, crawl_key, host) select outlet_no, 'x', 'x', domain from outlets where domain = 'o2.example'`,
    )
    await page.waitForSelector('.flow[aria-label*="Pages: 1"]')
    t.pass('a new page shows without a reload')
    t.equal(await page.locator('#search').inputValue(), 'krant 77', 'what was typed stays')
    t.strictSame(heard, [], 'nothing from elsewhere, no complaint')
    await close()
  })

  for (const [width, colorScheme] of [
    [390, 'light'],
    [390, 'dark'],
    [820, 'light'],
    [1280, 'dark'],
  ] as const) {
    t.test(`it fits ${width} pixels, ${colorScheme}`, async t => {
      const { page, heard, close } = await open('/status', { viewport: { width, height: 844 }, colorScheme })
      await page.waitForSelector('.outlet-table')
      t.ok(Number(await measure(page, 'document.documentElement.scrollWidth')) <= width, 'nothing sticks out')
      const bright = await measure(page, 'getComputedStyle(document.body).backgroundColor')
      t.equal(/rgb\(2\d\d/.test(String(bright)), colorScheme === 'light')
      t.strictSame(heard, [])
      await close()
    })
  }

  t.test('when the API is gone the page says so, and keeps what it knew', async t => {
    const { page, close } = await open('/status', {})
    await page.waitForSelector('.outlet-table')
    await page.route('**/status/figures', route => route.abort())
    await page.waitForSelector('#problems >> text=does not answer')
    t.ok(await page.locator('main.stale .outlet-table').isVisible())
    await page.unroute('**/status/figures')
    await page.waitForSelector('main:not(.stale)')
    t.pass('and recovers by itself')
    await close()
  })

  t.test(
    'the queues on Redis can be looked into and not changed',
    { skip: redis.url === null && 'no redis-server' },
    async t => {
      const { page, heard, close } = await open('/queues', { viewport: { width: 1280, height: 900 } })
      await page.waitForSelector('text=normalise')
      t.match(await page.locator('body').innerText(), /visit[\s\S]*normalise[\s\S]*embed/)
      t.strictSame(heard, [], 'nothing from elsewhere, no complaint')
      await close()
      for (const method of ['PUT', 'POST', 'DELETE']) {
        const { status } = await api.ask(KEY, '/queues/api/queues/pause', { method })
        t.equal(status, 405, method)
      }
      const { json } = await api.ask(KEY, '/queues/api/queues')
      t.ok(json.queues.every(({ readOnlyMode }: { readOnlyMode: boolean }) => readOnlyMode))
      t.equal((await api.ask(null, '/queues/static/js/main.js')).status, 401, 'its files are behind the key too')
    },
  )
}

import type { BrowserContextOptions } from 'playwright-core'
import t from 'tap'
import { isWhole } from '#test/script'
import { axe, browserPath, launch, open as openPage } from '#test/web/browser'
import { startTestApi } from './api.ts'

/* The reference page in a real browser. */

/** Alone, axe sees a sixth of the operations; `test/whole.long.test.ts` shows it all of them. */
const SHARE = isWhole ? 4 : 12

if (browserPath === undefined) {
  t.test('the reference page in a browser', { skip: 'no chromium on this machine' }, async () => {})
} else {
  const api = await startTestApi(t)
  const { secret } = await api.issue()
  const browser = await launch(t)

  const open = async (options: BrowserContextOptions) => {
    const seen = await openPage(browser, api.base, '/docs', options)
    seen.page.setDefaultTimeout(90_000) // on a busy machine
    return { ...seen, heard: seen.complaints }
  }

  const looks = [
    [390, 'light'],
    [390, 'dark'],
    [1280, 'light'],
    [1280, 'dark'],
  ] as const
  for (const [quarter, [width, colorScheme]] of looks.entries()) {
    t.test(`at ${width} pixels, ${colorScheme}, the operations come before the guide`, async t => {
      const { page, heard, close } = await open({ viewport: { width, height: 844 }, colorScheme })
      await page.waitForSelector('#beyond .opblock')
      const top = (selector: string) =>
        page
          .evaluate(`document.querySelector('${selector}').getBoundingClientRect().top`)
          .then(Number)
      t.ok((await top('.opblock')) < (await top('#guide')))
      t.ok((await top('.opblock')) < 1.5 * 844, 'on the second screen at the latest')
      t.ok(
        Number(await page.evaluate('document.documentElement.scrollWidth')) <= width,
        'nothing sticks out',
      )
      const background = String(
        await page.evaluate('getComputedStyle(document.body).backgroundColor'),
      )
      t.equal(/rgb\(2\d\d/.test(background), colorScheme === 'light')
      t.match(await page.locator('.steps').innerText(), `PERSCOPE_URL=${api.base}`)
      t.strictSame(heard, [], 'nothing from elsewhere, no complaint')
      // Axe takes long, so it looks once at each width and colour, with other operations open.
      if (!isWhole && [1, 2].includes(quarter)) return close()
      const operations = await page.locator('.opblock').all()
      const opened = operations.filter((_, at) => at % SHARE === quarter)
      t.ok(opened.length > 1, `${opened.length} operations are opened`)
      await page.evaluate(
        `document.querySelectorAll('.steps summary').forEach(one => one.click());
         [...document.querySelectorAll('.opblock-summary-control')].forEach((one, at) => at % ${SHARE} === ${quarter} && one.click())`,
      )
      for (const operation of opened) await operation.locator('.responses-inner').waitFor()
      t.strictSame(await axe(page), [], 'axe finds nothing, with some of the operations open')
      await close()
    })
  }

  t.test('the first screen works without scripts', async t => {
    const { page, close } = await open({ javaScriptEnabled: false })
    for (const language of ['curl', 'TypeScript', 'Python']) {
      await page.locator('summary', { hasText: language }).click()
      t.ok(await page.locator(`#example-${language.toLowerCase()}`).isVisible(), language)
    }
    await close()
  })

  t.test('the form sends no default that the search refuses', async t => {
    const { page, close } = await open({})
    await page.locator('#contract .btn.authorize').click()
    await page.locator('.auth-container input').fill(secret)
    await page.locator('.auth-btn-wrapper .authorize').click()
    await page.locator('.btn-done').click()
    await page.locator('#operations-Articles-listArticles .opblock-summary-control').click()
    await page.locator('.try-out__btn').click()
    await page.locator('tr[data-param-name="q"] input').first().fill('trein')
    await page.locator('tr[data-param-name="search"] select').selectOption('semantic')
    const answered = page.waitForResponse(/\/v1\/articles\?/)
    await page.locator('.btn.execute').click()
    const response = await answered
    t.match(response.url(), /search=semantic/)
    // No model is configured here: the search is understood, and out of order.
    t.equal(response.status(), 503)
    await close()
  })
}

import type { Page } from 'playwright-core'
import t from 'tap'
import { LANGUAGES } from '#shared/articles/article'
import { revokeKey } from '#shared/plans/keys'
import { startTestApi } from '#test/contract/api'
import { until } from '#test/fleet'
import { isWhole } from '#test/script'
import { axe, browserPath, launch, opener, overhang } from './browser.ts'
import { sampleNews } from './news.ts'

if (browserPath === undefined) {
  t.test('the explorer in a browser', { skip: 'no chromium on this machine' }, async () => {})
} else {
  const api = await startTestApi(t)
  const browser = await launch(t)
  const open = opener(browser, api.base)
  await api.index(sampleNews())
  const { secret } = await api.issue()
  const small = { width: 360, height: 740 }

  const TITLES = {
    nl: 'Met een sleutel kunt u zoeken',
    fr: 'Une clé ouvre la recherche',
    de: 'Ein Schlüssel öffnet die Suche',
    lb: 'E Schlëssel mécht d’Sich op',
    en: 'A key opens the search',
  }
  t.test('the page speaks the language of the browser, and fits 360 pixels in each', async t => {
    for (const language of LANGUAGES) {
      const locale = language === 'lb' ? 'lb-LU' : language
      const { page, complaints, close } = await open(t, '/', { locale, viewport: small })
      await page.getByRole('heading', { name: TITLES[language] }).waitFor()
      t.equal(await page.locator('html').getAttribute('lang'), language)
      t.ok((await overhang(page)) <= 0, `${language} without a key`)
      await page.goto(`${api.base}/?q=brussel&search_in=title_body#key=${secret}`)
      await page.locator('article.card').first().waitFor()
      t.ok((await overhang(page)) <= 0, `${language} with results`)
      const headline = await page.locator('article.card h3').first().boundingBox()
      t.ok(headline!.y + headline!.height <= small.height, `${language}: a headline is in sight`)
      t.strictSame(await axe(page), [], language)
      t.strictSame(complaints, [])
      await close()
    }
    const { page } = await open(t, '/', { locale: 'es' })
    await page.getByRole('heading', { name: TITLES.en }).waitFor()
    await page.getByRole('combobox', { name: 'Language of this page' }).selectOption('fr')
    await page.getByRole('heading', { name: TITLES.fr }).waitFor()
    await page.reload()
    await page.getByRole('heading', { name: TITLES.fr }).waitFor()
    t.pass('another language is chosen, and kept')
  })

  t.test(
    'an article has a page of its own, in five languages; it says what is missing',
    async t => {
      const { page, complaints } = await open(t, `/?q=brussel&search_in=title_body#key=${secret}`, {
        viewport: small,
      })
      const isFine = async (page: Page) =>
        (await axe(page)).length === 0 && (await overhang(page)) <= 0
      const card = page.locator('article.card').first()
      const title = await card.locator('h3').innerText()
      t.ok(await isFine(page), 'cards with their links')
      await card.locator('a[href^="/a/"]').press('Enter')
      await page.getByText('The article is the outlet’s.').waitFor()
      t.match(await page.getByRole('link', { name: title }).getAttribute('href'), /^https:/)
      const path = new URL(page.url()).pathname
      for (const language of LANGUAGES) {
        await page.getByRole('banner').getByRole('combobox').selectOption(language)
        await page.locator(`html[lang=${language}]`).waitFor()
        t.ok(await isFine(page), language)
      }
      t.strictSame(complaints, [])
      await page.goto(`${api.base}/a/nothing`)
      await page
        .getByRole('heading', { level: 1, name: 'Your plan has no article with this id.' })
        .waitFor()
      t.ok(await isFine(page), 'unknown')
      const { page: other } = await open(t, path, { viewport: small })
      await other.getByText('This page shows one article. To see it, enter your key.').waitFor()
      t.ok(await isFine(other), 'without a key')
      await other.getByLabel('Your key').fill(secret)
      await other.keyboard.press('Enter')
      await other.getByRole('heading', { level: 1, name: title }).waitFor()
      t.equal(await other.evaluate('document.activeElement.id'), 'results')
    },
  )

  for (const [width, height, colorScheme] of [
    [360, 740, 'dark'],
    [820, 1180, 'light'],
    [1280, 900, 'dark'],
    [3840, 2160, 'light'],
  ] as const) {
    t.test(`it fits ${width} pixels, ${colorScheme}, with everything open`, async t => {
      const options = { viewport: { width, height }, colorScheme }
      const { page, complaints } = await open(
        t,
        `/?q=water&search_in=title_body#key=${secret}`,
        options,
      )
      await page.locator('article.card').first().waitFor()
      // What is opened may show more that can be opened.
      const closed = page.locator('details:not([open]) > summary:visible')
      while ((await closed.count()) > 0) await closed.first().click()
      await page.locator('.chart canvas').waitFor()
      for (const way of ['Download', 'Keep', 'Use in a program']) {
        await page.getByRole('button', { name: way, exact: true }).click()
        if (way === 'Use in a program') await page.getByRole('radio', { name: 'Python' }).check()
        t.ok((await overhang(page)) <= 0, `nothing sticks out: ${way}`)
        // At other widths axe sees the same: the parts stand below one another, or they do not.
        if (isWhole || width < 1_000) t.strictSame(await axe(page), [], way)
      }
      const shots = process.env.SHOTS
      if (shots) await page.screenshot({ path: `${shots}/explorer-${width}-${colorScheme}.png` })
      t.strictSame(complaints, [])
    })
  }

  t.test('failures are said in words, with what to do', async t => {
    const gone = await api.issue()
    const { page } = await open(t, `/#key=${gone.secret}`)
    const card = page.locator('article.card').first()
    const notice = page.locator('.results > .notice')
    await card.waitFor()

    await page.getByRole('radio', { name: 'Meaning' }).check()
    await page.keyboard.press('/')
    await page.keyboard.type('rivers bursting their banks')
    await page.keyboard.press('Enter')
    await notice.getByText(/Again in \d+ seconds/).waitFor()
    t.match(await notice.innerText(), 'Search by meaning is away')
    t.strictSame(await axe(page), [], '503')
    await notice.getByRole('button', { name: 'Search by words' }).press('Enter')
    await card.waitFor()
    t.equal(await page.evaluate('document.activeElement.id'), 'results', 'the button is gone')

    await page.context().setOffline(true)
    await page.getByRole('button', { name: 'Search', exact: true }).click()
    await notice.getByText('No answer').waitFor()
    t.strictSame(await axe(page), [], 'offline')
    await page.context().setOffline(false)
    await card.waitFor()
    t.pass('it goes on by itself')

    await page.goto(`${api.base}/?published_after=1990-01-01`)
    await notice.getByText('does not reach that far back').waitFor()
    t.strictSame(await axe(page), [], '403')
    await page.goto(`${api.base}/?published_after=2026-02-31&outlet=%CC%81`)
    await page.getByText('This day cannot be searched.').waitFor()
    t.equal(await page.locator('.group .problem').count(), 2, 'each error stands beside its field')
    t.strictSame(await axe(page), [], '422')

    await revokeKey(api.pool, gone.key.id)
    await page.goto(`${api.base}/`)
    await notice.getByText('This key does not work').waitFor()
    t.strictSame(await axe(page), [], '401')
    await notice.getByRole('button', { name: 'Forget the key' }).click()
    await page.getByLabel('Your key').waitFor()
  })

  t.test('an empty system says how to fill it, and no headings stand over nothing', async t => {
    const other = await startTestApi(t)
    const { secret: key } = await other.issue()
    const { page, complaints } = await opener(browser, other.base)(t, `/#key=${key}`)
    await page.getByText('There are no articles yet.').waitFor()
    t.match(await page.locator('.nothing').innerText(), 'npm run outlets')
    t.strictSame(await page.locator('h2:visible').allInnerTexts(), ['Results'])
    t.strictSame(await axe(page), [])
    t.strictSame(complaints, [])
  })

  t.test('titles and addresses of others are text: no markup, no script', async t => {
    const title = '<img src=x onerror="document.title=1"> De Stille'
    await api.index([
      {
        title,
        url: 'javascript:document.title=2',
        body: '<script>document.title=3</script> stilleman',
      },
    ])
    const { page, complaints } = await open(t, `/?q=stilleman&search_in=title_body#key=${secret}`)
    const heading = page.locator('article.card h3')
    t.equal(await heading.innerText(), title)
    t.equal(await heading.locator('a').count(), 0, 'an address that is a script is no link')
    t.equal(await page.title(), 'stilleman – Perscope')
    t.strictSame(complaints, [])
  })

  t.test('a search by meaning that fails is tried again when the page says so', async t => {
    const { secret } = await api.issue()
    const { page, asked } = await open(t, `/#key=${secret}`)
    await page.locator('article.card').first().waitFor()
    await page.clock.install()
    await page.goto(`${api.base}/?search=semantic&q=river`)
    await page.getByText(/^Again in \d/).waitFor()
    const before = asked.length
    await page.clock.fastForward(31_000)
    const isAsked = () => asked.slice(before).some(url => /articles\?.*search=semantic/.test(url))
    await until(isAsked, 20_000)
  })

  t.test('when the minute is used up the page waits, and goes on by itself', async t => {
    const { secret: slow, key } = await api.issue({ rate: 1 })
    const { page } = await open(t, '/')
    await page.clock.install()
    await page.getByLabel('Your key').fill(slow)
    await page.keyboard.press('Enter')
    await page.locator('article.card').first().waitFor()
    await page.getByRole('button', { name: 'Search', exact: true }).click()
    await page.getByText('The page goes on by itself.').waitFor()
    // The countdown shows that the page has begun to wait.
    await page.getByText(/^Again in \d/).waitFor()
    await api.pool.query('update api_keys set rate = 1000 where id = $1', [key.id])
    await page.clock.fastForward(61_000)
    await page.locator('article.card').first().waitFor()
    t.pass('the results are there')
  })
}

import type { Page } from 'playwright-core'
import t from 'tap'
import { LANGUAGES } from '#shared/articles/article'
import { startTestApi } from '#test/contract/api'
import { axe, browserPath, launch, opener, overhang } from './browser.ts'
import { sampleNews } from './news.ts'

if (browserPath === undefined) {
  t.test('the explorer in a browser', { skip: 'no chromium on this machine' }, async () => {})
} else {
  const api = await startTestApi(t)
  const open = opener(await launch(t), api.base)
  const longName = 'Vereinigte Nachrichten des Mittleren Sauertals und Umgebung'
  const burst = Array.from({ length: 110 }, (_, n) => ({
    title: `Sturmflut ${n}`,
    publishedAt: new Date(Date.now() - n * 1_000),
    language: 'de' as const,
    body: `${'Ein Satz. '.repeat(40)} Deich, Deich.`,
    outlet: { name: longName, domain: 'sauertal.example' },
  }))
  await api.index([...sampleNews(), ...burst])
  const { secret } = await api.issue()
  const cards = (page: Page) => page.locator('article.card')
  const wide = { viewport: { width: 1280, height: 900 } }
  const shoot = async (page: Page, name: string) => {
    if (process.env.SHOTS)
      await page.screenshot({ path: `${process.env.SHOTS}/${name}.png`, fullPage: true })
  }

  t.test(
    'figures: one line a name, and the longest bar of a table is as wide as its names',
    async t => {
      const { page, complaints } = await open(t, `/#key=${secret}`, wide)
      const tables = page.locator('.breakdown table')
      await tables.nth(2).waitFor()
      for (const table of await tables.all()) {
        const names = table.locator('tbody th')
        const bars = table.locator('.bar')
        const widths = await bars.evaluateAll(all =>
          all.map(bar => Number(bar.getBoundingClientRect().width)),
        )
        const name = await names.first().boundingBox()
        const whole = await table.boundingBox()
        t.ok(Math.abs(Math.max(...widths) - (name?.width ?? 0)) < 2, `${widths}: ${name?.width}`)
        t.ok(
          (name?.width ?? 0) > (whole?.width ?? 0) * 0.6,
          'names have more than half of the column',
        )
        const heights = await names.evaluateAll(all =>
          all.map(one => Number(one.getBoundingClientRect().height)),
        )
        t.equal(new Set(heights.map(Math.round)).size, 1, `one line each: ${heights}`)
      }
      t.equal(
        await page.getByRole('button', { name: longName, exact: true }).getAttribute('title'),
        longName,
      )
      t.strictSame(await axe(page), [])
      await shoot(page, 'figures')

      await page.route('**/explore/counts*', route => route.abort())
      await page.getByRole('button', { name: 'Search', exact: true }).click()
      await page.getByText('The figures did not come.').waitFor()
      await page.waitForTimeout(500)
      t.equal(
        await page.getByText('The figures did not come.').count(),
        1,
        'four figures tell one failure once',
      )
      await page.unroute('**/explore/counts*')
      await page.locator('.main-column > .hint').getByRole('button', { name: 'Try again' }).click()
      await page.getByText('The figures did not come.').waitFor({ state: 'detached' })
      await tables.nth(2).waitFor()
      const others = complaints.filter(text => !text.includes('ERR_FAILED'))
      t.same(others, [])
    },
  )

  t.test('a first day after the last one is named so, and swapped', async t => {
    const { page } = await open(
      t,
      `/?published_after=2026-06-02&published_before=2026-05-01#key=${secret}`,
      wide,
    )
    const group = page.getByRole('group', { name: 'Published' })
    await group.getByText('The first day is after the last one.').waitFor()
    await page.locator('.notice').getByText('The first day is after the last one.').waitFor()
    t.strictSame(await axe(page), [])
    await group.getByRole('button', { name: 'Swap the days' }).press('Enter')
    await page.waitForURL(
      /published_after=2026-04-30T22:00:00Z&published_before=2026-06-02T21:59:59/,
    )
    await group.locator('.problem').waitFor({ state: 'detached' })
  })

  t.test('a feed says how many articles it holds, and warns of a day with more', async t => {
    const { page } = await open(t, `/?q=sturmflut#key=${secret}`, wide)
    await page.getByRole('button', { name: 'Tell me' }).first().click()
    await page.getByText('It has the first 100 articles of this search.').waitFor()
    await page.getByText(/had 1(0\d|10) articles in one day, and the feed holds 100/).waitFor()
    await page.getByRole('button', { name: 'Make a feed of this search' }).click()
    t.match(
      await page.getByLabel('Address of the feed').inputValue(),
      /\.atom$/,
      'Atom unless another is chosen',
    )
    t.strictSame(await axe(page), [])
    await page.goto(`${api.base}/?q=water`)
    await page.getByRole('button', { name: 'Tell me' }).first().click()
    await page.getByText('It has the first 100 articles of this search.').waitFor()
    await page.waitForTimeout(500)
    t.equal(
      await page.getByText('in one day').count(),
      0,
      'no day of the week has more than it holds',
    )
  })

  t.test('an empty list names the next steps, each of which searches', async t => {
    const path = `/?q=schip+sturmflut&search=boolean&search_in=title&outlet=Dagkoerier&language=nl#key=${secret}`
    const { page } = await open(t, path, wide)
    const nothing = page.locator('.nothing')
    await nothing.waitFor()
    const steps = await nothing.getByRole('button').allInnerTexts()
    t.same(steps, [
      'Search titles and texts',
      'Search for any of the words',
      'Without “Dutch”',
      'Without “Outlet: Dagkoerier”',
      'Search by meaning, in all five languages',
    ])
    t.strictSame(await axe(page), [])
    await shoot(page, 'nothing')
    await nothing.getByRole('button', { name: 'any of the words' }).click()
    await page.waitForURL(url => !url.search.includes('boolean'))
    await nothing.getByRole('button', { name: 'Dagkoerier' }).click()
    await nothing.getByRole('button', { name: 'Dutch' }).click()
    await cards(page).first().waitFor()
  })

  t.test('an expression with a word for an operator offers the operator', async t => {
    const path = `/?q=sturmflut+oder+brussel&search=expression#key=${secret}`
    const { page } = await open(t, path, wide)
    await page.locator('.nothing').waitFor()
    await page.getByRole('button', { name: 'Did you mean sturmflut OR brussel?' }).click()
    await cards(page).first().waitFor()
    t.match(page.url(), /q=sturmflut\+OR\+brussel&search=expression/)
    await page.getByText('What an expression can have').click()
    await page.getByText('at most 5 words apart').waitFor()
    t.strictSame(await axe(page), [])
    await shoot(page, 'meant')
  })

  t.test('places are told by half; snippets end with a word; a compact list stays', async t => {
    const { page } = await open(t, `/?q=deich#key=${secret}`, {
      ...wide,
      viewport: { width: 360, height: 740 },
    })
    await page.getByText('2 places in the text, the first in the second half').first().waitFor()
    await page.goto(`${api.base}/?q=brussel`)
    await cards(page).first().waitFor()
    const { json } = await api.ask(secret, '/v1/articles?q=brussel&search_in=title_body')
    const whole: string[] = json.articles.map(({ snippet }: { snippet: string }) => snippet)
    const seen = await page.locator('.snippet').allInnerTexts()
    const cut = seen.flatMap((text, n) =>
      text.endsWith('…') ? [[text.slice(0, -2), whole[n] ?? '']] : [],
    )
    t.ok(cut.length > 0)
    for (const [text = '', from = ''] of cut)
      t.match(
        from.slice(text.length, text.length + 1) || ' ',
        /[\s,;:]/,
        `a whole word ends ${text.slice(-20)}`,
      )
    await page.getByRole('button', { name: 'Compact list' }).click()
    await page.reload()
    await cards(page).first().waitFor()
    t.equal(await page.locator('.snippet:visible').count(), 0, 'titles alone, after a reload too')
    t.ok((await overhang(page)) <= 0)
    t.strictSame(await axe(page), [])
    await shoot(page, 'compact')
  })

  t.test('a reload keeps the place, beyond the first page too', async t => {
    const { page } = await open(t, `/?q=sturmflut&search_in=title#key=${secret}`, wide)
    await cards(page).nth(24).waitFor()
    for (const last of [24, 49, 70]) {
      await cards(page).nth(last).waitFor()
      await cards(page).nth(last).scrollIntoViewIfNeeded()
    }
    const top = async () => (await cards(page).nth(70).boundingBox())?.y ?? Number.NaN
    const before = await top()
    await page.reload()
    await cards(page).nth(70).waitFor()
    await page.locator('.chart canvas').waitFor()
    await page.waitForTimeout(500)
    const after = await top()
    t.ok(Math.abs(after - before) < 60, `${before} and ${after}`)
    await page.goto(`${api.base}/?q=brussel`)
    await cards(page).first().waitFor()
    t.equal(await page.evaluate('scrollY'), 0, 'another search begins at its top')
  })

  t.test('a reload tells the places of every page that it loads again', async t => {
    const { page } = await open(t, `/?q=deich#key=${secret}`, wide)
    await cards(page).nth(24).scrollIntoViewIfNeeded()
    await cards(page).nth(49).scrollIntoViewIfNeeded()
    await page.reload()
    const places = page.getByText('2 places in the text')
    await places.nth(49).waitFor({ timeout: 10_000 })
    t.equal(await cards(page).first().getByText('2 places in the text').count(), 1)
  })

  t.test('on paper: the search, its filters and the addresses; no form', async t => {
    const { page } = await open(t, `/?q=brussel&language=nl#key=${secret}`, wide)
    await cards(page).first().waitFor()
    await page.emulateMedia({ media: 'print' })
    t.ok(await page.locator('.printed').isVisible())
    t.match(
      await page.locator('.printed').innerText(),
      /^brussel · Dutch · \d+ \w+ \d{4}.* · http:\S+q=brussel\S+language=nl$/,
    )
    for (const part of ['form', 'button:visible:not(.chip)', '.filters', '.insights', 'header'])
      t.equal(await page.locator(part).locator('visible=true').count(), 0, part)
    const printed = await page.evaluate(
      `getComputedStyle(document.querySelector('.source time'), '::after').content`,
    )
    t.match(printed, /\d{4}/, 'a moment instead of "yesterday"')
    const shown = await page.evaluate(
      `getComputedStyle(document.querySelector('.card h3 a'), '::after').content`,
    )
    t.match(shown, /^"https:/, 'addresses are printed')
    await shoot(page, 'print')
  })

  t.test('each language has its colon, and fits 360 pixels', async t => {
    for (const language of LANGUAGES) {
      const locale = language === 'lb' ? 'lb-LU' : language
      const small = { locale, viewport: { width: 360, height: 740 } }
      const { page, close } = await open(
        t,
        `/?q=sturmflut+schip&search=boolean&outlet=BX#key=${secret}`,
        small,
      )
      await page.locator('.nothing button').first().waitFor()
      const chip = (await page.locator('.chips').innerText()).replaceAll('\n', ' ')
      t.match(chip, language === 'fr' ? /Média\u00A0: BX/ : /\w: BX/)
      t.ok((await overhang(page)) <= 0, language)
      await close()
    }
  })
}

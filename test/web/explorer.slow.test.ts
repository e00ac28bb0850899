import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parquetReadObjects } from 'hyparquet'
import type { Page } from 'playwright-core'
import t from 'tap'
import { dayAgo } from '#shared/outlets/days'
import { startTestApi } from '#test/contract/api'
import { until } from '#test/fleet'
import { runScript } from '#test/script'
import { axe, browserPath, launch, opener } from './browser.ts'
import { sampleNews } from './news.ts'

/** Set to draw the picture of the README anew. */
const PICTURE = process.env.PICTURES
  ? fileURLToPath(new URL('../../docs/pictures/explorer.png', import.meta.url))
  : null

if (browserPath === undefined) {
  t.test('the explorer in a browser', { skip: 'no chromium on this machine' }, async () => {})
} else {
  const api = await startTestApi(t)
  const open = opener(await launch(t), api.base)
  await api.index(sampleNews())
  const { secret } = await api.issue()
  const cards = (page: Page) => page.locator('article.card')
  const total = (page: Page) => page.locator('.total')
  const shown = (page: Page, text: RegExp) => total(page).filter({ hasText: text }).waitFor()

  /** Whether a request is for a list of results, not for what came since. */
  const isSearch = (url: string) => /\/explore\/articles\?(?!.*ingested)/.test(url)

  t.test('from the printed address to a subscribed feed', async t => {
    const { page, complaints, asked } = await open(t, `/#key=${secret}`, {
      viewport: { width: 1280, height: 860 },
    })
    await cards(page).first().waitFor()
    t.equal(page.url(), `${api.base}/`, 'the key has left the address')
    t.match(await total(page).innerText(), /^\d+ articles$/, 'everything is shown at first')

    await page.keyboard.press('/')
    await page.keyboard.type('Brussels Zug')
    t.match(await page.locator('#reading').innerText(), 'any of brussels, zug')
    await page.keyboard.press('Enter')
    await page.locator('mark').first().waitFor()
    t.equal(page.url(), `${api.base}/?q=Brussels+Zug&search_in=title_body`)
    await page.locator('.chart canvas').waitFor()
    await page.locator('.breakdown th button').first().waitFor()
    if (PICTURE) await page.screenshot({ path: PICTURE, animations: 'disabled' })
    t.strictSame(await axe(page), [])

    const all = await total(page).innerText()
    await page.getByRole('button', { name: 'The Brussels Ledger', exact: true }).click()
    await page.waitForURL(/outlet=The\+Brussels\+Ledger/)
    t.equal(
      await page.getByRole('combobox', { name: 'Outlet' }).inputValue(),
      'The Brussels Ledger',
      'by its name',
    )
    await shown(page, /^\d articles$/)
    t.not(await total(page).innerText(), all, 'a row of a breakdown narrows the search')
    await page.goBack()
    await shown(page, new RegExp(`^${all}$`))
    t.pass('back is the search before')

    const canvas = page.locator('.timeline:not(.stale) .u-over')
    for (const moves of [[], [[301, 52]]]) {
      await canvas.hover({ position: { x: 300, y: 50 } })
      const box = await canvas.boundingBox()
      await page.mouse.down()
      for (const [x = 0, y = 0] of moves)
        await page.mouse.move((box?.x ?? 0) + x, (box?.y ?? 0) + y)
      await page.mouse.up()
      await page.waitForURL(/published_after=.*published_before=/)
      t.pass('a click on a bar narrows the search')
      await page.goBack()
      await shown(page, new RegExp(`^${all}$`))
    }
    await canvas.dragTo(canvas, {
      sourcePosition: { x: 200, y: 50 },
      targetPosition: { x: 500, y: 50 },
    })
    await page.waitForURL(/published_after=.*published_before=/)
    t.pass('a brush over the timeline narrows the search')

    await page.getByRole('button', { name: 'Tell me' }).first().click()
    t.match(
      await page.getByLabel('Name', { exact: true }).inputValue(),
      /^Brussels Zug · from .* · until /,
      'in words',
    )
    await page.getByRole('button', { name: /^Make a feed of this search/ }).click()
    await page.getByRole('radio', { name: 'Atom' }).check()
    t.match(await page.getByLabel('Address of the feed').inputValue(), /\.atom$/)
    await page.getByRole('radio', { name: 'RSS' }).check()
    const address = await page.getByLabel('Address of the feed').inputValue()
    const feed = await api.ask(null, new URL(address).pathname)
    t.equal(feed.status, 200, 'without a key')
    t.equal(
      feed.text.split('<item>').length - 1,
      await cards(page).count(),
      'the feed has what the page shows',
    )
    t.strictSame(await axe(page), [], 'with a feed')
    await page.getByRole('button', { name: /^End: / }).click()
    await page.getByRole('button', { name: /^End: / }).waitFor({ state: 'detached' })
    t.not((await api.ask(null, new URL(address).pathname)).status, 200, 'ended')

    const leaks = asked.filter(url => url.includes(secret) || url.includes('psk_'))
    t.same(leaks, [], 'no request had the key in its address')
    await page.getByRole('button', { name: 'Forget the key' }).click()
    await page.getByLabel('Your key').waitFor()
    const kept = await page.evaluate(
      'JSON.stringify([sessionStorage, localStorage, document.cookie, history.state])',
    )
    t.notMatch(String(kept), 'psk_', 'one click forgets it')
    t.strictSame(complaints, [])
  })

  t.test('a tap on a bar narrows the search on a phone', async t => {
    const { page } = await open(t, `/?q=water#key=${secret}`, {
      viewport: { width: 360, height: 740 },
      hasTouch: true,
      isMobile: true,
    })
    await page.getByText('Articles over time').tap()
    await page.locator('.timeline:not(.stale) .u-over').tap()
    await page.waitForURL(/published_after=.*published_before=/)
  })

  t.test('the address is the search: shared with another, who brings a key', async t => {
    const path = '/?q=trein+-staking&search=boolean&search_in=title_body&country=NL&order=asc'
    const { page, complaints } = await open(t, path)
    t.strictSame(await axe(page), [], 'without a key')
    await page.getByLabel('Your key').fill(` ${secret} `)
    await page.keyboard.press('Enter')
    await cards(page).first().waitFor()
    t.equal(page.url(), `${api.base}${path}`)
    t.equal(
      await page.evaluate('document.activeElement.id'),
      'q',
      'the keyboard goes on in the search box',
    )
    t.match(await page.locator('#reading').innerText(), 'all of trein; not staking')
    t.equal(await page.getByLabel('Netherlands').isChecked(), true)
    t.equal(await page.getByLabel('Order').inputValue(), 'oldest')
    const { json } = await api.ask(secret, `/v1/articles${path.slice(1)}`)
    t.equal(await cards(page).count(), json.total_results)
    t.equal(await cards(page).locator('h3').first().innerText(), json.articles[0].title)
    t.strictSame(complaints, [])
  })

  t.test('the keyboard alone suffices', async t => {
    const { page, asked } = await open(t, `/#key=${secret}`)
    await cards(page).first().waitFor()
    await page.locator('.skip').press('Enter')
    await page.waitForURL(/#results$/)
    await page.locator('#results:focus').waitFor()
    await page.waitForTimeout(300)
    t.equal(asked.filter(isSearch).length, 1, 'a link to a place of the page searches no more')
    await page.keyboard.press('/')
    await page.keyboard.type('metro or "hoog water')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Tab')
    await page.keyboard.press('ArrowRight')
    t.match(
      await page.locator('#reading').innerText(),
      'quotation mark is not closed',
      'an error beside its field',
    )
    await page.keyboard.press('/')
    await page.keyboard.type('water or brussel')
    t.match(await page.locator('#reading').innerText(), '“or” is read as a word')
    await page.getByRole('button', { name: 'Search by expression' }).waitFor()
    await page.keyboard.press('Tab')
    await page.keyboard.press('Tab')
    await page.keyboard.press('ArrowLeft')
    await page.waitForURL(/q=water\+or\+brussel/)

    await page.getByRole('combobox', { name: 'Outlet' }).focus()
    await page.keyboard.type('dagk')
    await page.getByRole('option', { name: 'De Dagkoerier' }).waitFor()
    await page.keyboard.press('ArrowDown')
    const counted = page.waitForResponse(/explore\/counts\?.*outlet=.*by=(?!outlet)/)
    await page.keyboard.press('Enter')
    await page.waitForURL(/outlet=De\+Dagkoerier/)
    // The rows of the search before go away when the figures come.
    await counted
    await page.locator('.timeline:not(.stale)').waitFor()
    await page.getByText('These figures as a table').focus()
    await page.keyboard.press('Enter')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.waitForURL(/published_after=/)
    t.pass('a row of the table narrows the search')
  })

  t.test('a key is tried before its form closes, and none becomes an address', async t => {
    const { page, asked, complaints } = await open(t, '/?q=water')
    await page.getByLabel('Your key').fill('psk_wrongwrongwrongwrong')
    await page.keyboard.press('Enter')
    await page.getByText('This key does not work.').waitFor()
    t.equal(
      await page.evaluate('document.activeElement.id'),
      'key',
      'the right one goes where the wrong one was',
    )
    t.strictSame(await axe(page), [])
    await page.getByLabel('Your key').fill(secret)
    await page.keyboard.press('Enter')
    await cards(page).first().waitFor()
    t.equal(asked.filter(isSearch).length, 2, 'the trial is the first page')

    const other = (await api.issue()).secret
    await page.getByRole('searchbox').fill(` ${other} `)
    const offer = page.locator('.offer')
    await offer.waitFor()
    t.equal(await page.getByRole('searchbox').inputValue(), '')
    t.strictSame(await axe(page), [], 'with another key')
    for (const [fold, field] of [
      ['What outlets say', 'Section'],
      ['Several outlets, sets', 'Add an outlet'],
    ] as const) {
      await offer.getByRole('button', { name: 'Keep mine' }).click()
      await page.locator('.filters').getByText(fold, { exact: true }).click()
      await page.getByLabel(field).fill(other)
      await page.keyboard.press('Enter')
      await offer.waitFor()
      t.equal(await page.getByLabel(field).inputValue(), '', field)
    }
    await offer.getByRole('button', { name: 'Keep mine' }).click()
    await page.getByRole('combobox', { name: 'Outlet', exact: true }).fill(other)
    await offer.getByRole('button', { name: 'Use that key' }).click()
    await cards(page).first().waitFor()
    t.equal(await page.evaluate('sessionStorage.getItem("perscope.key")'), other)
    const typed = `${api.base}/?q=${secret}&outlet=${secret}&${secret}`
    await page.goto(typed)
    await offer.waitFor()
    t.equal(page.url(), `${api.base}/`)
    const leaks = asked.filter(url => url.includes('psk_'))
    t.same(leaks, [typed], 'but for the address that was typed')
    const others = complaints.filter(text => !text.includes('401'))
    t.same(others, [])
  })

  t.test('a link with another key replaces none in silence', async t => {
    const { page } = await open(t, `/#key=${secret}`)
    await cards(page).first().waitFor()
    const kept = () => page.evaluate('sessionStorage.getItem("perscope.key")')
    for (const how of ['a new page', 'a change of the fragment']) {
      if (how === 'a new page')
        await page.goto(`${api.base}/?q=water#key=psk_of-somebody-else-0000`)
      else await page.evaluate('location.hash = "key=psk_of-somebody-else-0000"')
      await page.locator('.offer').waitFor()
      t.equal(await kept(), secret, how)
      t.notMatch(page.url(), 'psk_')
      await page.getByRole('button', { name: 'Keep mine' }).click()
      await page.locator('.offer').waitFor({ state: 'detached' })
    }
  })

  t.test('every filter that is on is a chip that takes it away', async t => {
    const { page } = await open(
      t,
      `/?country=NL,BE&language=nl&outlet=dag&search_in=title&published_after=2020-01-01#key=${secret}`,
    )
    await cards(page).first().waitFor()
    const chips = page.getByRole('list', { name: 'Filters that are on' })
    t.match(
      await chips.innerText(),
      /Look in: Titles.*from 1 January 2020.*Netherlands.*Belgium.*Dutch.*Outlet: dag/s,
    )
    await chips.getByRole('button', { name: 'Remove: Belgium' }).click()
    await page.waitForURL(/country=NL&/)
    await chips.getByRole('button', { name: 'Remove: Outlet: dag' }).click()
    await page.waitForURL(url => !url.search.includes('outlet'))
    await chips.getByRole('button', { name: 'Clear filters' }).click()
    await page.waitForURL(`${api.base}/`)
    t.equal(await chips.count(), 0)
  })

  t.test('forms are marked, and a hit in the text alone says so', async t => {
    await api.index([
      { title: 'Bussen rijden niet', body: 'Niets anders.' },
      {
        title: 'Zonder',
        body: `${'Een lange inleiding gaat eraan vooraf. '.repeat(8)} De tweebaansbus en nog een tweebaansbus.`,
      },
    ])
    const { page } = await open(t, `/?q=bus&search_in=title#key=${secret}`)
    await page.locator('mark', { hasText: 'Bussen' }).waitFor()
    await page.goto(`${api.base}/?q=tweebaansbus`)
    await page.getByText('2 places in the text').waitFor()
    t.match(await page.title(), /^tweebaansbus – /)
  })

  t.test(
    'the page of an article leads back to the place in its results, or to a search',
    async t => {
      await api.index(Array.from({ length: 30 }, (_, at) => ({ title: `Bladzijde ${at}` })))
      const { page, complaints } = await open(t, `/?language=nl#key=${secret}`)
      // More cards come when the last ones are seen.
      for (const at of [24, 30]) await cards(page).nth(at).scrollIntoViewIfNeeded()
      const address = await cards(page).nth(30).locator('.source a').getAttribute('href')
      const link = page.locator(`.source a[href="${address}"]`)
      await link.click()
      const back = page.getByRole('link', { name: 'Back to the results', exact: true })
      await page.reload()
      await back.waitFor()
      const publishedAt = new Date()
      await api.index(['Eerste', 'Tweede', 'Derde'].map(title => ({ title, publishedAt })))
      await back.focus()
      await page.keyboard.press('Enter')
      await page.locator(`.source a[href="${address}"]:focus`).waitFor()
      t.equal(page.url(), `${api.base}/?language=nl#results`)
      t.equal(await cards(page).nth(33).locator('.source a').getAttribute('href'), address)
      const isInView = async () => {
        const { y = -1 } = (await link.boundingBox()) ?? {}
        return y >= 0 && y < (page.viewportSize()?.height ?? 0)
      }
      await until(isInView, 10_000, 'the place')
      await page.getByRole('button', { name: 'Forget the key' }).click()
      t.equal(await page.evaluate('sessionStorage.length'), 0, 'the place is forgotten, too')
      const other = await open(t, `${address}#key=${secret}`)
      const search = other.page.getByRole('link', { name: 'Search the news' })
      t.equal(await search.getAttribute('href'), '/')
      t.equal(
        await other.page.getByRole('link', { name: 'Back to the results', exact: true }).count(),
        0,
      )
      t.strictSame([...complaints, ...other.complaints], [])
    },
  )

  t.test('the page of an article that was taken out says so, with its day', async t => {
    await api.index([{ title: 'Weggehaald' }])
    const { id } = (await api.ask(secret, '/v1/articles?q=weggehaald')).json.articles[0]
    const { DATABASE_URL } = api.config
    const args = ['remove', id, '--reason', 'a court']
    t.match(await runScript('articles', args, { DATABASE_URL }), { code: 0 })
    const { page } = await open(t, `/a/${id}#key=${secret}`)
    await page.getByText(/^This article was taken out on \d+ \w+ 20\d\d\.$/).waitFor()
  })

  t.test('what arrives meanwhile is counted, and shown when it is wanted', async t => {
    const { page, complaints, asked } = await open(
      t,
      `/?q=schaatsbaan&search_in=title#key=${secret}`,
    )
    await page.getByText('No article matches.').waitFor()
    await page.getByRole('button', { name: 'Search titles and texts' }).waitFor()
    await page.clock.install()
    await page.reload()
    await page.getByText('No article matches.').waitFor()
    await page.waitForTimeout(500)
    await api.index([
      { title: 'Schaatsbaan open' },
      { title: 'Schaatsbaan dicht' },
      { title: 'Iets anders' },
    ])
    await page.clock.fastForward(21_000)
    // From then on it knows what is shown.
    const looked = page.waitForResponse(response =>
      /sort=ingested_at&per_page=1$/.test(response.url()),
    )
    await page.getByRole('button', { name: '2 new articles' }).press('Enter')
    await shown(page, /^2 articles$/)
    await page.getByRole('button', { name: '2 new articles' }).waitFor({ state: 'detached' })
    t.equal(await page.evaluate('document.activeElement.id'), 'results')
    await looked
    await api.index([{ title: 'Schaatsbaan weer open' }])
    await page.clock.fastForward(21_000)
    await page.getByRole('button', { name: '1 new article' }).waitFor()
    t.pass('articles of one batch, which have one time, are not counted again')
    const polls = asked.filter(url => url.includes('ingested_after'))
    t.ok(
      polls.length > 0 &&
        polls.every(url => url.includes('sort=ingested_at') && url.includes('order=asc')),
    )
    t.same(complaints, [])
  })

  t.test('gaps are striped, and a day says how much of it is here, in each language', async t => {
    const outlet = { name: 'De Gatenkrant', domain: 'gatenkrant.example' }
    const on = (day: string, n: number) =>
      Array.from({ length: n }, (_, at) => ({
        title: `Gat ${day} ${at}`,
        url: `https://gatenkrant.example/${day}/${at}`,
        outlet,
        publishedAt: new Date(`${day}T10:0${at}:00Z`),
      }))
    await api.index([
      ...on(dayAgo(8), 4),
      ...on(dayAgo(7), 5),
      ...on(dayAgo(6), 2),
      ...on(dayAgo(5), 3),
      ...on(dayAgo(3), 4),
    ])
    await api.index([{ title: 'Iets anders', publishedAt: new Date(`${dayAgo(1)}T12:00:00Z`) }])
    await api.pool.query(
      `with outlet as (
         insert into outlets (domain, name, country, languages, time_zone)
         values ($1, $2, 'NL', '{nl}', 'Europe/Amsterdam') returning outlet_no
       )
       insert into outlet_days (outlet_no, day, polls, sitemaps, feeds, second, named, indexed, lost)
       select outlet_no, (now() at time zone 'UTC')::date - ago, 9, 1, named, named, named, indexed, named - indexed
         from outlet, (values (8, 4, 4), (7, 318, 312), (6, 9, 2), (5, 3, 3), (3, 4, 4)) as d (ago, named, indexed)`,
      [outlet.domain, outlet.name],
    )
    const path = `/?outlet=De+Gatenkrant#key=${secret}`
    const { page, complaints } = await open(t, path, { viewport: { width: 1280, height: 900 } })
    await page.getByText('No bar does not mean no news').waitFor()
    await page.getByText('These figures as a table').click()
    const rows = await page.locator('.figures tbody tr').allInnerTexts()
    t.equal(rows.length, 8, 'the gaps after the last article stay in view')
    t.match(rows[1], /5\s+we have 312 of 318 that De Gatenkrant named$/)
    t.match(rows[2], /2\s+we have 2 of 9 that De Gatenkrant named$/)
    t.match(rows[4], /0\s+outlets that could not be read: 1$/)
    const pointed = /articles?; we have .* that De Gatenkrant named/
    await until(async () => {
      // The drawing may be made anew meanwhile.
      await page.locator('.timeline .u-over').hover({ position: { x: 90, y: 60 } })
      await page.locator('.timeline .u-over').hover({ position: { x: 100, y: 60 } })
      return pointed.test(await page.locator('.point').innerText())
    }, 40_000)
    t.strictSame(await axe(page), [])
    if (process.env.PICTURE_OF_GAPS)
      await page.screenshot({ path: process.env.PICTURE_OF_GAPS, fullPage: true })
    for (const [language, word] of [
      ['nl', 'Gestreept'],
      ['fr', 'Rayé'],
      ['de', 'Gestreift'],
      ['lb', 'Gesträift'],
    ] as const) {
      await page.evaluate(`localStorage.setItem('perscope.language', '${language}')`)
      await page.reload()
      await page.getByText(word).waitFor()
    }
    t.strictSame(complaints, [])
  })

  t.test('a download walks all pages, waits for the minute of the plan, and is whole', async t => {
    await api.index(
      Array.from({ length: 730 }, (_, index) => ({ title: `Dossier ${index}, "vervolg"` })),
    )
    const limited = await api.issue({ rate: 12 })
    const { page } = await open(t, `/?q=dossier&search_in=title#key=${limited.secret}`)
    await page.clock.install()
    await page.reload()
    await shown(page, /^730 articles$/)
    await page.getByRole('button', { name: 'Download', exact: true }).click()
    await page.getByRole('button', { name: 'CSV' }).click()
    await page
      .locator('.download')
      .getByText(/of this minute are used up.*Again in/)
      .waitFor()
    await api.pool.query('update api_keys set rate = 1000 where id = $1', [limited.key.id])
    await page.clock.fastForward(61_000)
    const download = await page.waitForEvent('download')
    const lines = readFileSync(await download.path(), 'utf8')
      .trim()
      .split('\r\n')
    t.match(download.suggestedFilename(), /^perscope-\d{4}-\d\d-\d\d\.csv$/)
    t.equal(lines.length, 731)
    t.equal(new Set(lines.map(line => line.split(',')[0])).size, 731, 'each article once')
    await page.getByText('Done: 730 articles.').waitFor()
    await page.getByRole('button', { name: 'PARQUET' }).click()
    const parquet = await page.waitForEvent('download')
    t.match(parquet.suggestedFilename(), /\.parquet$/)
    const bytes = readFileSync(await parquet.path())
    const file = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length)
    const rows = await parquetReadObjects({ file })
    t.equal(rows.length, 730)
    const [head = ''] = lines
    t.same(
      Object.keys(rows[0] ?? {}),
      head.replace('\uFEFF', '').split(','),
      'the columns of CSV, and no texts',
    )
    t.match(
      rows.find(row => row.id === lines[1]?.split(',')[0]),
      {
        title: /^Dossier \d+, "vervolg"$/,
        published_at: Date,
        ingested_at: Date,
        relevance: null,
        authors: Array,
        outlet_domain: String,
      },
    )

    const other = await open(t, `/?q=luchtschip&search_in=title#key=${secret}`)
    await api.index([{ title: 'Luchtschip' }])
    await other.page.reload()
    await shown(other.page, /^1 article$/)
    await other.page.getByRole('button', { name: 'Download', exact: true }).click()
    await other.page.getByRole('button', { name: 'CSV' }).click()
    await other.page.getByText('Done: 1 article.', { exact: true }).waitFor()
  })
}

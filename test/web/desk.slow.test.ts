import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import t from 'tap'
import { LANGUAGES } from '#shared/articles/article'
import { revokeKey } from '#shared/plans/keys'
import { sent, startTestApi } from '#test/contract/api'
import { createFleet, startMailSink, until } from '#test/fleet'
import { axe, browserPath, launch, opener } from './browser.ts'
import { sampleNews } from './news.ts'

/** Set to a folder to keep pictures of the pages. */
const PICTURES = process.env.DESK_PICTURES

if (browserPath === undefined) {
  t.test('the desk in a browser', { skip: 'no chromium on this machine' }, async () => {})
} else {
  const { url: SMTP_URL, mails } = await startMailSink(t)
  const api = await startTestApi(t, { SMTP_URL })
  const open = opener(await launch(t), api.base)
  await api.index(sampleNews())
  const { secret } = await api.issue()
  const picture = (page: Page, name: string) =>
    PICTURES
      ? page.screenshot({ path: `${PICTURES}/${name}.png`, fullPage: true, animations: 'disabled' })
      : null
  const button = (page: Page, name: string | RegExp) =>
    page.getByRole('button', { name, exact: true })
  const isMarked = async (page: Page, key: string) => {
    const marks = String(await page.evaluate("localStorage.getItem('perscope.marks')"))
    const kept: { id: string }[] = (await api.ask(key, '/explore/searches')).json.data
    return kept.length > 0 && kept.every(({ id }) => marks.includes(id))
  }
  const isFocused = (page: Page, text: string) =>
    page.locator(':focus', { hasText: text }).waitFor()
  const saved = async (page: Page, click: () => Promise<void>) => {
    const [download] = await Promise.all([page.waitForEvent('download'), click()])
    return readFile((await download.path())!)
  }

  t.test('a morning: somebody compares searches, cites one, and hands the address on', async t => {
    const { page, complaints } = await open(t, `/?q=brussel&search_in=title_body#key=${secret}`)
    await button(page, 'Compare').click()
    const lines = page.locator('.compare .feed-list li')
    const drawing = page.locator('.compare .chart svg')
    const isSeen = async () => {
      await drawing.waitFor()
      const { y = -1, height = 0 } = (await drawing.boundingBox()) ?? {}
      return y >= 0 && y + height <= (page.viewportSize()?.height ?? 0)
    }
    t.ok(await isSeen(), 'what was asked for is in view at once')
    const whole = page.viewportSize()!
    await page.setViewportSize({ width: 360, height: 740 })
    await button(page, 'Compare').click()
    await button(page, 'Compare').click()
    t.ok(await isSeen(), 'on a phone, too')
    await page.setViewportSize(whole)
    await page.getByLabel('Search for').fill('gemeente')
    await page.keyboard.press('Enter')
    await page.waitForURL(/gemeente/)
    await button(page, 'Add this search').click()
    await lines.nth(1).waitFor()
    t.equal(await lines.count(), 2)
    await page.locator('.compare td').getByText('gemeente').first().waitFor({ state: 'attached' })
    const csv = (
      await saved(page, () => page.locator('.compare').getByRole('button', { name: 'CSV' }).click())
    ).toString()
    const [head, ...rows] = csv.trimEnd().split('\r\n')
    t.equal(head, 'search,time,from,to,count,all,share,complete')
    const asked = await api.ask(secret, '/explore/counts?by=month&q=gemeente&search_in=title_body')
    const all = await api.ask(secret, '/explore/counts?by=month')
    const sum = (column: number) =>
      rows
        .filter(row => /^gemeente,/.test(row))
        .reduce((n, row) => n + Number(row.split(',').at(column)), 0)
    t.equal(sum(-4), asked.json.total - asked.json.undated)
    t.ok(sum(-3) <= all.json.total && sum(-3) >= sum(-4))
    await page.getByLabel('Share of all articles').check()
    await page.getByText('These figures as a table').last().click()
    t.equal(await page.locator('.compare tbody tr').count(), rows.length)
    await picture(page, 'compare')
    const fileOf = (kind: string) =>
      saved(page, () => page.locator('.compare').getByRole('button', { name: kind }).click())
    t.match(
      (await fileOf('SVG')).toString(),
      /^<svg [^>]+>.*<polyline .*>gemeente<.*>Share of all articles · By day · .*20\d\d – .*<\/svg>$/,
    )
    await page.reload()
    await lines.nth(1).waitFor()
    const names = await lines.locator('.feed-title').allInnerTexts()
    t.strictSame(names, ['brussel', 'gemeente'], 'the address has them')
    await page.locator('.compare').getByLabel('Unit of time').selectOption('month')
    await page.locator('.compare td').first().waitFor({ state: 'attached' })
    await page.locator('.compare svg').getByText('· By month ·').waitFor()
    await picture(page, 'compare-month')
    const png = await fileOf('PNG')
    t.equal(png.subarray(1, 4).toString(), 'PNG')
    t.equal(png.readUInt32BE(16), 2_400, 'twice its size')
    t.strictSame(await axe(page), [])
    await page.context().setOffline(true)
    await button(page, 'One search by country').click()
    await page.locator('.compare').getByText('The service cannot be reached.').waitFor()
    t.strictSame(await lines.locator('.feed-title').allInnerTexts(), names, 'they stay')
    await page.context().setOffline(false)
    await button(page, 'One search by country').click()
    await lines.getByText('gemeente · Netherlands').waitFor()
    t.equal(
      await lines.count(),
      (await api.ask(secret, `/explore/counts?by=country&q=gemeente&search_in=title_body`)).json
        .data.length,
    )
    await button(page, 'Back to the searches before').press('Enter')
    await page.locator('.compare [aria-label="Remove: brussel"]:focus').waitFor()
    t.strictSame(await lines.locator('.feed-title').allInnerTexts(), names, 'nothing is lost')
    await button(page, 'Remove: gemeente').press('Enter')
    await page.locator('.compare [aria-label="Remove: brussel"]:focus').waitFor()
    await button(page, 'Add this search').press('Enter')
    await page.locator('.compare [aria-disabled="true"]:focus').waitFor()
    await lines.nth(1).waitFor()

    await button(page, 'Cite').click()
    await button(page, 'Make the address').click()
    const link = page.locator('.take a[href^="/cite/"]')
    const address = await link.getAttribute('href')
    t.match(address, /^\/cite\/[0-9a-f]{64}$/)
    const wide = page.viewportSize()!
    await page.setViewportSize({ width: 360, height: 740 })
    t.equal(await page.evaluate('document.documentElement.scrollWidth'), 360, 'an address wraps')
    await page.setViewportSize(wide)
    t.strictSame(await axe(page), [])
    await link.click()
    await page.getByRole('heading', { name: 'A cited search' }).waitFor()
    await button(page, 'Show the articles').click()
    await page.locator('article.card').first().waitFor()
    t.equal(await page.locator('article.card').count(), Math.min(100, asked.json.total))
    t.match((await saved(page, () => button(page, 'CSV').click())).toString(), `"${address}`)
    t.strictSame(
      complaints.filter(one => !/ERR_INTERNET_DISCONNECTED/.test(one)),
      [],
    )

    const other = await open(t, address!)
    t.match(await other.page.locator('main').innerText(), `${asked.json.total} article`)
    await other.page.getByText(/^Within the plan of the key: .*Netherlands.* · from /).waitFor()
    await button(other.page, 'Show the articles').waitFor()
    await other.page.getByRole('link', { name: /^gemeente/ }).waitFor()
    t.match(await other.page.locator('pre').allInnerTexts(), [
      /\/cite\//,
      /^@misc/,
      /^TY {2}- DATA/,
    ])
    t.strictSame(await axe(other.page), [])
    t.strictSame(other.complaints, [])
    for (const locale of LANGUAGES.map(one => (one === 'lb' ? 'lb-LU' : one))) {
      const { page } = await open(t, address!, { locale, viewport: { width: 360, height: 740 } })
      await page.getByRole('heading', { level: 1 }).waitFor()
      const width = await page.evaluate('document.documentElement.scrollWidth')
      t.equal(width, 360, locale)
      await picture(page, `cite-${locale}`)
    }
  })

  t.test(
    'a morning: somebody who follows a subject is told by mail, and sees on the page what is new',
    async t => {
      const { key, secret } = await api.issue()
      const { DATABASE_URL, PUBLIC_URL } = api.config
      const fleet = createFleet({ DATABASE_URL, PUBLIC_URL, SMTP_URL }, t)
      await fleet.start('notifier')
      const told = (count: number) => until(() => mails.length === count, 60_000, fleet.logs)
      const { page, complaints } = await open(t, `/?q=brussel#key=${secret}`)
      const form = page.locator('details.telling')
      await button(page, 'Tell me').first().click()
      await page.getByLabel('Name', { exact: true }).fill('Brussels')
      const summary = form.locator('summary')
      await form.getByLabel('Mail address').fill('https://10.0.0.1/hook')
      await page.keyboard.press('Enter')
      await form.getByRole('alert').getByText('no public address').waitFor()
      t.same((await api.ask(secret, '/explore/searches')).json.data, [], 'nothing is kept yet')
      await form.getByLabel('Mail address').fill('lezer@example.org')
      await form.getByLabel('When').selectOption('at once')
      await button(page, 'Set the alert').click()
      await page.getByText('We send a mail.').waitFor()
      await page.getByText('The search is kept. Brussels').waitFor()
      await until(() => isMarked(page, secret), 10_000)
      await page.getByRole('link', { name: 'Kept searches' }).first().click()
      t.match(
        await summary.innerText(),
        /lezer@example.org · at once · waits for the consent of its owner/,
      )
      await picture(page, 'alert')
      t.strictSame(await axe(page), [])
      const mute = await api.another({ SMTP_URL: '' })
      const other = await open(t, '/')
      await other.page.goto(`${mute.base}/?q=brug#key=${secret}`)
      await button(other.page, 'Tell me').first().click()
      await other.page.getByText('This server sends no mail; write an address that').waitFor()
      await told(1)
      await page.goto(`${api.base}${/\/confirm\/[\w-]+/.exec(mails[0]!)![0]}`)
      await picture(page, 'confirm')
      t.strictSame(await axe(page), [])
      await button(page, 'Tell me what is new').click()
      await page.getByText('From now on this address is told what is new to:').waitFor()
      await page.getByRole('listitem').getByText('Brussels').waitFor()
      await picture(page, 'agreed')
      const publishedAt = new Date('2025-01-05T12:00:00Z')
      await api.index([{ title: 'Een nieuwe brug in Brussel', country: 'BE', publishedAt }])
      await told(2)
      t.match(mails[1], /^Subject: Brussels: 1 article[\s\S]*Een nieuwe brug in Brussel/m)
      await page.goto(`${api.base}${/\/unsubscribe\/[\w-]+/.exec(mails[1]!)![0]}?language=fr`)
      await page.getByText('Brussels').waitFor()
      await picture(page, 'unsubscribe')
      t.strictSame(await axe(page), [])
      await page.goto(`${api.base}/searches`)
      await page.getByText('new: 1 article', { exact: true }).waitFor()
      t.match(await summary.innerText(), '· on')
      await summary.click()
      await form.getByLabel('When').selectOption('every day at')
      const again = form.getByText('its owner has to agree again')
      t.equal(await again.count(), 0)
      await form.getByLabel('Mail address').fill('ander@example.org')
      await again.waitFor()
      for (const same of ['lezer@example.org ', 'HTTPS://example.org/hook']) {
        await form.getByLabel('Mail address').fill(same)
        await again.waitFor({ state: 'detached' })
      }
      const rest = (why: string | null) =>
        api.pool.query('update search_alerts set rests = $1 where told_to = $2', [
          why,
          'mailto:lezer@example.org',
        ])
      await rest('Its search cannot be run any more.')
      await page.reload()
      await summary.click()
      await form.getByLabel('Mail address').fill('ander@example.org')
      await again.waitFor()
      await rest(null)
      await page.getByRole('link', { name: 'Brussels' }).click()
      await page.getByText('Een nieuwe brug in Brussel').waitFor()
      const marked = page.locator('article.card', { has: page.locator('.pill.fresh') })
      await marked.first().waitFor()
      t.equal(await marked.count(), 1, 'its list marks what is new')
      t.match(
        await page.locator('article.card').first().innerText(),
        'Een nieuwe brug in Brussel',
        'and begins with it, although it is of an old day',
      )
      await button(page, 'Keep').click()
      await page.getByText('The search is kept. Brussels').waitFor()
      await page.reload()
      await marked.first().waitFor()
      await page.goBack()
      await page.reload()
      await summary.click()
      t.equal(await page.getByText('new: 1').count(), 0, 'what was seen is not new')
      for (const locale of LANGUAGES.map(one => (one === 'lb' ? 'lb-LU' : one))) {
        const { page } = await open(t, `/searches#key=${secret}`, {
          locale,
          viewport: { width: 360, height: 900 },
        })
        await page.locator('.telling summary').click()
        await page.locator('.telling select').first().selectOption('week')
        t.equal(await page.evaluate('document.documentElement.scrollWidth'), 360, locale)
        const tick = await page.getByRole('checkbox').boundingBox()
        t.ok(tick !== null && tick.width < 20, 'the box stands before its words')
        await page.locator('.telling input').first().fill('nobody')
        await page.keyboard.press('Enter')
        const said = await page.locator('.telling .problem').innerText()
        t.equal(said.startsWith('Write'), locale === 'en', 'the API is heard in its language')
        await picture(page, `alert-${locale}`)
      }
      await button(page, 'End the alert').click()
      await until(async () => /nobody yet/.test(await summary.innerText()), 40_000)
      t.strictSame(
        await api.pool
          .query('select from search_alerts where key_id = $1', [key.id])
          .then(r => r.rowCount),
        0,
      )
      t.strictSame(
        complaints.filter(one => !/422/.test(one)),
        [],
      )
    },
  )

  t.test(
    'a list of kept searches marks what a new tab shows, and says that it cannot come',
    async t => {
      const { secret } = await api.issue()
      await api.ask(secret, '/explore/searches', sent('POST', { search: 'q=lente', name: 'Lente' }))
      const { page } = await open(t, `/searches#key=${secret}`)
      await page.evaluate(`localStorage.setItem('perscope.key', '${secret}')`)
      await until(() => isMarked(page, secret), 10_000)
      await api.index([{ title: 'Lente' }])
      await page.reload()
      await page.getByText('new: 1 article').waitFor()
      const [tab] = await Promise.all([
        page.context().waitForEvent('page'),
        page.getByRole('link', { name: 'Lente' }).click({ button: 'middle' }),
      ])
      await tab.locator('article.card .pill.fresh').waitFor()
      await page.reload()
      await page.getByRole('link', { name: 'Lente' }).waitFor()
      t.equal(await page.getByText('new: 1').count(), 0)
      await page.route('**/explore/searches', route => route.abort())
      await page.reload()
      await page.getByRole('alert').waitFor()
      t.equal(
        await page.locator('[aria-busy=true]').count(),
        0,
        'screen readers wait for what is busy',
      )
    },
  )

  t.test(
    'the key stays on the device when its owner ticks the box, until it is forgotten or refused',
    async t => {
      const { key, secret } = await api.issue()
      const { page } = await open(t, '/')
      const enter = async (tick: boolean) => {
        await page.getByLabel('Your key').fill(secret)
        if (tick) await page.getByLabel('Remember it on this device').check()
        await page.keyboard.press('Enter')
        await page.locator('article.card').first().waitFor()
      }
      const kept = () => page.evaluate("localStorage.getItem('perscope.key')")
      await enter(false)
      t.equal(await kept(), null)
      await button(page, 'Forget the key').click()
      await enter(true)
      t.equal(await kept(), secret)
      const another = await page.context().newPage()
      await another.goto(`${api.base}/`)
      await another.locator('article.card').first().waitFor()
      await button(another, 'Forget the key').click()
      await page.getByLabel('Your key').waitFor()
      t.equal(await kept(), null, 'one click forgets it in all tabs')
      await another.close()
      await enter(true)
      // No request of the page is on its way when the key ends.
      await page.goto('about:blank')
      await revokeKey(api.pool, key.id)
      await page.goto(`${api.base}/`)
      await page.getByText('This key does not work').first().waitFor()
      t.equal(await kept(), null, 'a key that is refused is not kept')
    },
  )

  t.test('several outlets are chosen, and get a name that searches take', async t => {
    const { secret } = await api.issue()
    const { page, complaints } = await open(t, `/?outlets=dagkoerier.exampel#key=${secret}`)
    await page.getByText('No outlet has this domain: dagkoerier.exampel').waitFor()
    await button(page, 'Remove: dagkoerier.exampel').click()
    await page.waitForURL(url => !url.search.includes('outlets'))
    const add = page.getByLabel('Add an outlet')
    for (const [typed, said] of [
      ['e', 'Several outlets have “e” in their name: choose one from the list.'],
      ['zzz', 'No outlet is called “zzz”.'],
    ] as const) {
      await add.fill(typed)
      await add.press('Enter')
      await page.getByText(said).waitFor()
      await picture(page, `sets-${typed}`)
    }
    await add.fill('Polderp')
    await page.context().setOffline(true)
    await add.press('Enter')
    await page.locator('.several').getByText('The service cannot be reached.').waitFor()
    await picture(page, 'sets-offline')
    await page.context().setOffline(false)
    await button(page, 'Remove: Polderpost').click()
    // A text that is a choice of the list would be added at once.
    await page.locator('datalist option').first().waitFor({ state: 'detached' })
    for (const [typed, domain, name] of [
      ['dagkoerier.example', 'dagkoerier.example', 'De Dagkoerier'],
      ['Polderp', 'polderpost.example', 'Polderpost'],
    ] as const) {
      await add.fill(typed)
      await page.locator(`datalist option[value="${domain}"]`).waitFor({ state: 'attached' })
      await add.press('Enter')
      await button(page, `Remove: ${name}`).waitFor()
      await page.locator('.chips').getByText(`Outlet: ${name}`).waitFor()
    }
    await page.waitForURL(/outlets=dagkoerier.example,polderpost.example/)
    await page.getByLabel('Name of the set').fill('My papers')
    t.strictSame(await axe(page), [])
    await picture(page, 'sets')
    await button(page, 'Save as a set').click()
    await page.waitForURL(/outlets=my\+papers/)
    await page.locator('.chips').getByText('Set of outlets: My papers').waitFor()
    await page.goto(`${api.base}/?q=&outlets=My+papers`)
    await button(page, 'Keep').click()
    await button(page, 'Keep this search').click()
    await page.reload()
    await button(page, 'Keep').click()
    await page.getByText('The search is kept. All articles · Set of outlets: My papers').waitFor()
    const [kept] = (await api.ask(secret, '/explore/searches')).json.data
    await api.ask(secret, `/explore/searches/${kept.id}`, { method: 'DELETE' })
    const rows = page.locator('.breakdown').first().locator('th button')
    await rows.nth(1).waitFor()
    t.strictSame((await rows.allInnerTexts()).sort(), ['De Dagkoerier', 'Polderpost'])
    const edit = () => button(page, 'Change its outlets or name').click()
    await edit()
    await page.getByText('The set “My papers” changes when you save it.').waitFor()
    t.equal(await page.getByLabel('Your sets').inputValue(), 'My papers')
    await picture(page, 'set-changed')
    await page.setViewportSize({ width: 360, height: 900 })
    await picture(page, 'set-changed-360')
    await page.getByLabel('Name of the set').fill('Others')
    await page.getByText('“My papers” then stays as it is.').waitFor()
    await picture(page, 'set-renamed-here-360')
    await page.keyboard.press('Enter')
    await page.waitForURL(/outlets=others/)
    await edit()
    await button(page, 'Remove: Polderpost').click()
    await page.getByLabel('Name of the set').fill('My papers')
    const puts = '**/explore/outlet-sets/*'
    await page.route(puts, route =>
      route.request().postData()?.includes('domains')
        ? route.abort('internetdisconnected')
        : route.continue(),
    )
    await button(page, 'Rename: Others').press('Enter')
    await page.locator('.several').getByText('The service cannot be reached.').waitFor()
    await page.unroute(puts)
    await isFocused(page, 'Save the change')
    await page.keyboard.press('Enter')
    await page.waitForURL(/outlets=my\+papers/)
    const { data } = (await api.ask(secret, '/explore/outlet-sets')).json
    t.match(data, [{ name: 'My papers', domains: ['dagkoerier.example'] }])
    t.equal(data.length, 1, 'renamed, with the outlets that are chosen')
    await edit()
    await button(page, 'Clear filters').click()
    await page.waitForURL(url => !url.search.includes('outlets'))
    await page.goBack()
    await page.waitForURL(/outlets=dagkoerier/)
    t.equal(await page.getByLabel('Your sets').inputValue(), '', 'no set is being changed')
    await add.fill('polderpost.example')
    await add.press('Enter')
    await page.getByLabel('Name of the set').fill('MY papers')
    await button(page, 'Save the change').click()
    await page.waitForURL(/outlets=my\+papers/)
    const search = { name: 'Theirs', search: 'outlets=my+papers' }
    const user = await api.ask(secret, '/explore/searches', sent('POST', search))
    await page.goto(`${api.base}/searches`)
    await page.getByText('De Dagkoerier, Polderpost').waitFor()
    await api.ask(
      secret,
      '/explore/outlet-sets/Taken',
      sent('PUT', { domains: ['dagkoerier.example'] }),
    )
    await page.reload()
    const rename = async (to: string, key: string) => {
      await button(page, 'Rename: MY papers').click()
      await page.getByRole('textbox', { name: 'Rename: MY papers' }).fill(to)
      await page.keyboard.press(key)
    }
    await rename('Other', 'Escape')
    await isFocused(page, 'Rename')
    for (const width of [360, 1280]) {
      await page.setViewportSize({ width, height: 900 })
      await button(page, 'Rename: MY papers').click()
      t.equal(await page.evaluate('document.documentElement.scrollWidth'), width)
      await picture(page, `set-renaming-${width}`)
      await page.keyboard.press('Escape')
    }
    await rename('TAKEN', 'Enter')
    const field = page.getByRole('textbox', { name: 'Rename: MY papers' })
    await page.locator('li').filter({ has: field }).getByText('has another set').waitFor()
    t.strictSame(await axe(page), [])
    await picture(page, 'set-taken')
    t.equal(await field.inputValue(), 'TAKEN', 'what was typed stays')
    await field.fill('Our dailies')
    await field.press('Enter')
    await page.getByRole('link', { name: 'Our dailies' }).waitFor()
    await page.getByText('All articles · Set of outlets: Our dailies').waitFor()
    t.equal(
      await page.locator(':focus').getAttribute('aria-label'),
      'Rename: Our dailies',
      'who reads by keys goes on there',
    )
    const [renamed] = (await api.ask(secret, '/explore/searches')).json.data
    t.equal(renamed.search, 'outlets=our+dailies')
    await picture(page, 'set-renamed')
    await api.ask(secret, '/explore/outlet-sets/Taken', { method: 'DELETE' })
    await page.reload()
    const remove = async () => {
      await button(page, 'Remove: Our dailies').click()
      await page.getByText('Remove the set “Our dailies”?').waitFor()
      await picture(page, 'set-removing')
      await button(page, 'Remove: Our dailies').click()
    }
    await remove()
    await page
      .locator('li', { hasText: 'Our dailies' })
      .getByText(/names this set/)
      .waitFor()
    await picture(page, 'set-refused')
    await api.ask(secret, `/explore/searches/${user.json.data.id}`, { method: 'DELETE' })
    await remove()
    await page.getByText('De Dagkoerier, Polderpost').waitFor({ state: 'detached' })
    await isFocused(page, 'Sets of outlets')
    t.strictSame(
      complaints.filter(one => !/ERR_INTERNET_DISCONNECTED|422/.test(one)),
      [],
    )
  })

  t.test(
    'another morning: searches that are kept are named, ordered, handed on as a feed, and removed',
    async t => {
      const { page, complaints } = await open(t, `/?q=brussel#key=${secret}`)
      for (const name of ['Brussels', 'Second']) {
        await page.goto(`${api.base}/?q=${name.slice(0, 4)}`)
        await button(page, 'Keep').click()
        await page.getByLabel('Name', { exact: true }).fill(name)
        if (name === 'Second') {
          // Twice keeps it once.
          await page.keyboard.press('Enter')
          await page.keyboard.press('Enter')
        } else await button(page, 'Keep this search').click()
        await page.getByText('The search is kept.').waitFor()
        await until(() => isMarked(page, secret), 10_000, 'before their page is opened')
      }
      await page.getByRole('link', { name: 'Kept searches' }).first().click()
      const names = page.locator('.kept .name')
      await names.nth(1).waitFor()
      t.strictSame(await names.allInnerTexts(), ['Brussels', 'Second'])
      await button(page, 'Move: Second').focus()
      await page.keyboard.press('ArrowUp')
      const firstIs = (name: string) => names.first().getByText(name, { exact: true }).waitFor()
      await firstIs('Second')
      await page.locator('.kept li').first().dragTo(page.locator('.kept li').nth(1))
      await firstIs('Brussels')
      await page.locator('.kept li').nth(1).dragTo(page.locator('.kept li').first())
      await firstIs('Second')
      await names.first().click()
      await page.getByLabel('Search for').fill('gemeente')
      await page.keyboard.press('Enter')
      await page.waitForURL(/q=gemeente.*&kept=search_/)
      await button(page, 'Keep').focus()
      await page.keyboard.press('Enter')
      await page.locator('.take:focus').waitFor()
      await picture(page, 'kept-open')
      await page.keyboard.press('Escape')
      await page.locator('.take:visible').waitFor({ state: 'detached' })
      await isFocused(page, 'Keep')
      await button(page, 'Keep').click()
      await button(page, 'Change “Second” to this search').click()
      await page.getByText('The search is kept. Second').waitFor()
      await picture(page, 'kept-changed')
      await page.evaluate("localStorage.removeItem('perscope.marks')")
      await page.getByLabel('Search for').fill('school')
      await page.keyboard.press('Enter')
      await page.waitForURL(/q=school.*&kept=search_/)
      await page.getByLabel('Name', { exact: true }).fill('Third')
      await button(page, 'Change “Second” to this search').click()
      await page.getByText('The search is kept. Third').waitFor()
      const searches = (await api.ask(secret, '/explore/searches')).json.data
      t.match(searches[0], { name: 'Third', search: /^q=school/ })
      await page.waitForFunction(
        `localStorage.getItem('perscope.marks')?.includes('${searches[0].id}')`,
      )
      t.equal(searches.length, 2)
      // An order that the reader chose is kept. What is new is first for once.
      const of = `kept=${searches[0].id}`
      for (const [asked, order] of [
        [`q=kerk&sort=ingested_at&${of}`, 'sort=ingested_at'],
        [`q=brug&${of}&news=true`, 'sort=ingested_at'],
        [`q=school&${of}`, ''],
      ] as const) {
        await page.goto(`${api.base}/?${asked}`)
        await button(page, 'Keep').click()
        await button(page, 'Change “Third” to this search').click()
        await page.getByText('The search is kept. Third').waitFor()
        const [third] = (await api.ask(secret, '/explore/searches')).json.data
        t.equal(new URLSearchParams(third.search).get('sort') ?? '', order.slice(5), asked)
      }
      // The page in Dutch has proposed this name, but for its capitals.
      const proposed = { name: 'ZEE · nederland', search: 'q=zee&search_in=title_body&country=NL' }
      const at = `/explore/searches/${searches[0].id}`
      await api.ask(secret, at, sent('PATCH', proposed))
      await page.goto(`${api.base}/?q=duin&${of}`)
      await button(page, 'Keep').click()
      await button(page, 'Change “ZEE · nederland” to this search').click()
      await page.getByText('The search is kept. duin').waitFor()
      await api.ask(secret, at, sent('PATCH', { name: 'Third' }))
      await page.goto(`${api.base}/searches`)
      await button(page, 'Rename: Third').click()
      const named = page.getByRole('textbox', { name: 'Rename: Third' })
      await named.fill('Nothing')
      await page.keyboard.press('Escape')
      await names.getByText('Third').waitFor()
      await isFocused(page, 'Rename')
      await page.keyboard.press('Enter')
      await named.fill(' ')
      await page.keyboard.press('Enter')
      await names.getByText('Third').waitFor()
      await button(page, 'Rename: Third').click()
      await named.fill('Renamed')
      await page.keyboard.press('Tab')
      await names.getByText('Renamed').waitFor()
      await button(page, 'Rename: Renamed').click()
      const field = page.getByRole('textbox', { name: /^Rename: / })
      await field.fill('Lost?')
      await page.context().setOffline(true)
      await page.keyboard.press('Enter')
      await page.getByText('The service cannot be reached.').waitFor()
      t.equal(await field.inputValue(), 'Lost?', 'what was typed stays')
      await page.context().setOffline(false)
      await field.fill('Sent')
      await button(page, 'Rename: Renamed').click()
      await names.getByText('Sent').waitFor()
      t.equal(await field.count(), 0, 'the button beside the field sends it')
      await button(page, 'Rename: Sent').click()
      const [sentOne] = (await api.ask(secret, '/explore/searches')).json.data
      const elsewhere = sent('PATCH', { name: 'Renamed' })
      await api.ask(secret, `/explore/searches/${sentOne.id}`, elsewhere)
      // The list changes while the field is open, which keeps the focus.
      await button(page, 'Move: Brussels').dispatchEvent('keydown', { key: 'ArrowUp' })
      await firstIs('Brussels')
      await page.keyboard.press('Tab')
      await names.getByText('Renamed').waitFor()
      t.equal((await api.ask(secret, '/explore/searches')).json.data[1].name, 'Renamed')
      await button(page, 'Move: Renamed').press('ArrowUp')
      await firstIs('Renamed')
      await button(page, 'Move: Renamed').click()
      await button(page, 'Move down: Renamed').click()
      await firstIs('Brussels')
      await picture(page, 'kept-moving')
      await button(page, 'Move up: Renamed').click()
      await firstIs('Renamed')
      await button(page, 'Move: Renamed').click()
      // A search that was kept under older rules cannot be counted. The others still can.
      await api.pool.query(
        `update kept_searches set search = 'q=a+NEAR%2F60+b&search=expression' where name = 'Brussels'`,
      )
      await page.reload()
      await page.locator('.kept .problem').getByText('write NEAR/1 to NEAR/50').waitFor()
      const speech = page.getByRole('banner').getByRole('combobox')
      await speech.selectOption('nl')
      await page.locator('.kept .problem').getByText('NEAR/1 tot NEAR/50').waitFor()
      await speech.selectOption('en')
      await page.locator('.telling summary').first().click()
      await button(page, 'Make a feed of this search: Renamed').click()
      const feed = await page.getByLabel('Address of the feed').inputValue()
      t.match(feed, /^https:\/\/news\.example\/feeds\/psf_/)
      t.equal((await api.ask(null, new URL(feed).pathname)).status, 200)
      await picture(page, 'kept')
      t.strictSame(await axe(page), [])
      await button(page, 'Remove: Renamed').click()
      await page.getByText('Remove “Renamed” for good?').waitFor()
      await picture(page, 'kept-removing')
      await page.keyboard.press('Escape')
      await isFocused(page, 'Remove')
      await button(page, 'Remove: Renamed').click()
      await button(page, 'Remove: Renamed').click()
      await names.getByText('Renamed').waitFor({ state: 'detached' })
      await isFocused(page, 'Kept searches')
      t.strictSame(await names.allInnerTexts(), ['Brussels'])
      const search = 'q=high+water&search=semantic'
      await api.ask(secret, '/explore/searches', sent('POST', { search, name: 'Close' }))
      await page.reload()
      await page.getByText('A search by meaning has no alert').waitFor()
      t.match(await page.locator('.telling summary').allInnerTexts(), [
        /nobody yet/,
        /^Make a feed of this search/,
      ])
      await page.setViewportSize({ width: 360, height: 740 })
      await picture(page, 'kept-360')
      t.equal(await page.evaluate('document.documentElement.scrollWidth'), 360)
      const others = complaints.filter(one => !/ERR_INTERNET_DISCONNECTED|404|422/.test(one))
      t.strictSame(others, [])
    },
  )
}

import t from 'tap'
import { openCopyGroups } from '#shared/copies/pass'
import { createKey } from '#shared/plans/keys'
import { PLAN } from '#test/contract/api'
import { createWorld } from '#test/semantic/world'
import { axe, browserPath, launch, open, overhang } from './browser.ts'

if (browserPath === undefined) {
  t.test('search by meaning in a browser', { skip: 'no chromium on this machine' }, async () => {})
} else {
  const world = await createWorld(t, { EMBEDDINGS_MODEL: 'intfloat/multilingual-e5-small' })
  const browser = await launch(t)
  const { pool } = world
  const { secret } = await createKey(world.pool, 'test', PLAN)
  const at = (day: string) => new Date(`${day}T10:00:00Z`)
  await world.index([
    { title: 'water en brug', publishedAt: at('2026-03-01') },
    { title: 'brug bij een oude haven', publishedAt: at('2026-03-20') },
  ])
  await world.fleet.start('embedder')
  await world.embedded(2, 90_000)
  await world.index([{ title: 'brug nieuw', publishedAt: at('2026-03-20') }], 3_600_000)
  await world.fleet.start('api')

  t.test(
    'what cannot be found yet is said, closeness has one scale, and far articles say so',
    async t => {
      for (const width of [360, 1280]) {
        const viewport = { width, height: 900 }
        const path = `/?q=water+brug&search=semantic#key=${secret}`
        const { page, asked, complaints, close } = await open(browser, world.fleet.base(), path, {
          viewport,
        })
        await page.getByText('2 of 3 articles can be found by meaning so far.').waitFor()
        const bars = page.locator('.relevance .bar')
        for (const [n, text] of (await page.locator('.relevance').allTextContents()).entries()) {
          const relevance = Number(/0\.\d{4}$/.exec(text)?.[0])
          const width = `width: ${(4.5 * relevance).toFixed(2)}rem;`
          t.equal(
            await bars.nth(n).getAttribute('style'),
            width,
            `${text}: the closest has no whole bar`,
          )
        }
        await page.getByText('1 article is close in meaning. What follows may be').waitFor()
        await page
          .locator('.total')
          .filter({ hasText: /^1 close in meaning, of the 2 nearest$/ })
          .waitFor()
        if (process.env.PICTURES)
          await page.screenshot({
            path: `${process.env.PICTURES}/near-${width}.png`,
            fullPage: true,
          })
        const best = page.locator('.relevance').first()
        t.match(await best.innerText(), /^Closeness \d\d%$/)
        t.notMatch(await best.innerText(), /\d\.\d{4}/)
        await best.locator('summary').focus()
        await page.keyboard.press('Enter')
        t.match(await best.innerText(), /\d\.\d{4}/, 'exactly when somebody asks')
        if (width > 1_000) await page.getByText('Pale bars: some of these').waitFor()
        t.ok((await overhang(page)) <= 0)
        t.strictSame(await axe(page), [])
        for (const way of ['Download', 'Cite']) {
          await page.getByRole('button', { name: way, exact: true }).click()
          await page.getByText('Close in meaning: 1. The others may be').last().waitFor()
        }
        await page.getByRole('button', { name: 'Tell me' }).click()
        await page.getByText('only what is close in meaning, at present: 1.').waitFor()
        await page.goto(`${world.fleet.base()}/?q=zeppelin&search=semantic`)
        await page.getByText('We cannot say from which one on they are about some').waitFor()
        await page
          .locator('.total')
          .filter({ hasText: /^2 nearest articles$/ })
          .waitFor()
        t.equal(
          await page.locator('.timeline-place, .breakdowns').count(),
          0,
          'no figures of what may be anything',
        )
        const counts = asked.filter(url => /\/counts\?.*zeppelin/.test(url))
        t.equal(counts.length, 1, 'and none is paid')
        t.strictSame(await axe(page), [])
        await page.getByRole('button', { name: 'Compare' }).click()
        const note = ': not counted: we cannot say which articles are close in meaning'
        await page.locator('.compare li', { hasText: note.slice(2) }).waitFor()
        t.equal(await page.locator('.compare svg polyline').count(), 0, 'and none is drawn')
        await page.getByLabel('Search for').fill('water brug')
        await page.keyboard.press('Enter')
        await page.getByRole('button', { name: 'Add this search' }).click()
        await page.locator('.compare svg text', { hasText: 'zeppelin' }).waitFor()
        t.match(
          await (await page.locator('.compare svg text').allTextContents()).join(' '),
          /not counted/,
        )
        t.strictSame(await axe(page), [])
        if (process.env.PICTURES)
          await page.screenshot({
            path: `${process.env.PICTURES}/compare-${width}.png`,
            fullPage: true,
          })
        t.strictSame(complaints, [])
        await close()
      }
    },
  )

  t.test('counts of what is close say so in one sentence, and agents are told it, too', async t => {
    const ask = async (path: string, init?: RequestInit) => {
      const headers = {
        Authorization: `Bearer ${secret}`,
        'Content-Type': 'application/json',
        Accept: 'application/json, text/event-stream',
      }
      return (await fetch(`${world.fleet.base()}${path}`, { ...init, headers })).text()
    }
    const counted = async (q: string, close: string) =>
      JSON.parse(await ask(`/explore/counts?by=country&search=semantic&q=${q}${close}`))
    t.equal((await counted('water+brug', '')).total, 2)
    const { total, meaning } = await counted('water+brug', '&close=true')
    t.strictSame([total, meaning.close, meaning.near], [1, 1, 0.38])
    t.equal((await counted('water+brug+bij+de+sluis', '')).meaning.near, 0.45, 'of more words')
    const note =
      '1 article is close in meaning (relevance 0.38 or more); the others may be about something else.'
    t.equal(meaning.note, note)
    const far = await counted('zeppelin', '&close=true')
    t.strictSame([far.total, far.meaning.close], [2, 0])
    t.match(far.meaning.note, /^The closest come first\. We cannot say from which/)
    const none = await counted('water+brug', '&close=true&outlet=niemand.example')
    t.strictSame([none.total, none.meaning.note], [0, 'Nothing was found.'])
    const heldBy = async (q: string) => {
      const body = JSON.stringify({ search: `search=semantic&q=${q}&sort=published_at` })
      const { data } = JSON.parse(await ask('/explore/feeds', { method: 'POST', body }))
      return JSON.parse(await ask(new URL(data.urls.json).pathname)).items.length
    }
    t.strictSame([await heldBy('water+brug'), await heldBy('zeppelin')], [1, 0], 'feeds, too')
    const refused = await ask('/explore/counts?by=country&q=brug&close=true')
    t.match(JSON.parse(refused).errors.close, ['Leave it out unless search=semantic.'])
    const call = async (name: string, args: object) => {
      const params = { name, arguments: { search: 'semantic', ...args } }
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })
      return ask('/mcp', { method: 'POST', body })
    }
    const told = await call('search_news', { q: 'water brug', per_page: 1 })
    t.match(told, note)
    t.match(told, 'The nearest: 2 articles; 1 on this page.')
    const all = await call('count_news', { q: 'water brug', by: 'outlet' })
    t.match(all, note)
    t.match(all, 'Total 2, the nearest in meaning.')
    const near = await call('count_news', { q: 'water brug', by: 'month', close: true })
    t.match(near, 'Total 1, close in meaning.')
    t.match(await call('count_news', { q: 'zeppelin', by: 'month', close: true }), far.meaning.note)
    t.match(told, '"close":1')
  })

  t.test(
    'a card tells who has the same text, and what other languages write; a text is listed once',
    async t => {
      const body = Array.from({ length: 80 }, (_, n) => `sluis${n}`).join(' ')
      await world.index(
        ['een', 'twee', 'drie'].map((name, n) => ({
          title: `Sluis ${name}`,
          body: `${body} ${'eigen '.repeat(n)}`,
          publishedAt: at(`2026-04-0${n + 1}`),
          url: `https://${name}.example/1`,
          addresses: [`${name}.example/1`],
          outlet: { name, domain: `${name}.example` },
          agencies: ['ANP'],
        })),
      )
      await world.index([
        {
          title: 'Sluis een deux',
          body,
          language: 'fr',
          publishedAt: at('2026-04-03'),
          url: 'https://fr.example/1',
          addresses: ['fr.example/1'],
        },
      ])
      await world.embedded(6, 90_000)
      await pool.query("update article_texts set body = 'autre' where title = 'Sluis een deux'")
      await openCopyGroups(pool).pass(new AbortController().signal)
      for (const width of [360, 1280]) {
        const path = `/?q=sluis#key=${secret}`
        const { page, complaints, asked, close } = await open(browser, world.fleet.base(), path, {
          viewport: { width, height: 900 },
        })
        const card = page.locator('article.card', {
          has: page.getByRole('heading', { name: 'Sluis twee' }),
        })
        const summary = card.getByText('Shares most of its text with 2 outlets')
        if (width > 1_000) await page.locator('.chart canvas').waitFor()
        await summary.focus()
        await page.keyboard.press('Enter')
        t.match(await card.locator('tbody tr').allInnerTexts(), [
          /1 Apr.*\n?.*een.*the first/s,
          /twee.*100%/s,
          /drie/,
        ])
        await card.getByText('Named as source: ANP').waitFor()
        const others = card.getByText('In other languages: at least 1 article')
        await card.scrollIntoViewIfNeeded()
        await others.click()
        t.match(await card.locator('li').innerText(), /French\s+1 day later\s+.*Sluis een deux/s)
        if (process.env.PICTURES)
          await page.screenshot({
            path: `${process.env.PICTURES}/beside-${width}.png`,
            fullPage: true,
          })
        t.ok((await overhang(page)) <= 0)
        t.strictSame(await axe(page), [])
        t.equal(await page.locator('article.card').count(), 4)
        await page.getByRole('button', { name: 'One of each text' }).click()
        await page.locator('.total').filter({ hasText: '4 articles, 2 texts' }).waitFor()
        t.equal(await page.locator('article.card').count(), 2)
        t.match(page.url(), /&texts=true$/)
        await page.getByText('Folded are articles that share most of their text').waitFor()
        await page
          .getByRole('button', { name: '2 more share most of their text with this one' })
          .press('Enter')
        t.equal(await page.locator('article.card').count(), 4, 'nothing is lost')
        if (width > 1_000) await page.getByRole('heading', { name: 'Texts over time' }).waitFor()
        await page.waitForFunction("document.querySelector('.stale') === null")
        if (process.env.PICTURES)
          await page.screenshot({
            path: `${process.env.PICTURES}/once-${width}.png`,
            fullPage: true,
          })
        t.strictSame(await axe(page), [])
        t.equal(
          asked.filter(url => url.includes('/explore/copies')).length,
          1,
          'a page of copies is one request',
        )
        t.strictSame(complaints, [])
        await close()
      }
    },
  )
}

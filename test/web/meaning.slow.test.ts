import t from 'tap'
import { createKey } from '../../shared/plans/keys.ts'
import { PLAN } from '../contract/api.ts'
import { createWorld } from '../semantic/world.ts'
import { axe, browserPath, launch, open, overhang } from './browser.ts'

t.setTimeout(280_000)

if (browserPath === undefined) {
  t.test('search by meaning in a browser', { skip: 'no chromium on this machine' }, async () => {})
} else {
  const world = await createWorld(t, { EMBEDDINGS_MODEL: 'intfloat/multilingual-e5-small' })
  const browser = await launch(t)
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

  t.test('what cannot be found yet is said, closeness has one scale, and far articles say so', async t => {
    for (const width of [360, 1280]) {
      const viewport = { width, height: 900 }
      const path = `/?q=water+brug&search=semantic#key=${secret}`
      const { page, complaints, close } = await open(browser, world.fleet.base(), path, { viewport })
      await page.getByText('2 of 3 articles can be found by meaning so far.').waitFor()
      const bars = page.locator('.relevance .bar')
      for (const [n, text] of (await page.locator('.relevance').allTextContents()).entries()) {
        const relevance = Number(/0\.\d{4}$/.exec(text)?.[0])
        const width = `width: ${(4.5 * relevance).toFixed(2)}rem;`
        t.equal(await bars.nth(n).getAttribute('style'), width, `${text}: the closest has no whole bar`)
      }
      await page.getByText('1 article is close in meaning. What follows may be').waitFor()
      const best = page.locator('.relevance').first()
      t.notMatch(await best.innerText(), /\d\.\d{4}/)
      await best.locator('summary').focus()
      await page.keyboard.press('Enter')
      t.match(await best.innerText(), /\d\.\d{4}/, 'exactly when somebody asks')
      if (width > 1_000) await page.getByText('Pale bars: some of these').waitFor()
      t.ok((await overhang(page)) <= 0)
      t.strictSame(await axe(page), [])
      await page.goto(`${world.fleet.base()}/?q=zeppelin&search=semantic`)
      await page.getByText('Nothing is close to this in meaning.').waitFor()
      t.strictSame(await axe(page), [])
      t.strictSame(complaints, [])
      await close()
    }
  })
}

import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { chromium } from 'playwright-core'
import { letter } from '#services/notifier/letter'
import type { Section, ToldArticle } from '#services/notifier/message'
import { browserPath } from './browser.ts'

/*
 * Draws the small pictures of the README from a system that `npm start` has started, with its
 * sample outlets and an `SMTP_URL`, which may lead nowhere:
 * `node test/web/pictures.ts http://127.0.0.1:8080 .data/api.key`. It keeps two searches there, one
 * with an alert.
 */

const [base = 'http://127.0.0.1:8080', keyFile = '.data/api.key'] = process.argv.slice(2)
const key = readFileSync(keyFile, 'utf8').trim()
const FOLDER = fileURLToPath(new URL('../../docs/pictures/', import.meta.url))

interface Kept {
  id: string
  name: string
}

async function send<T>(method: string, path: string, body?: object): Promise<T | null> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const sent = body === undefined ? {} : { body: JSON.stringify(body) }
  const answer = await fetch(`${base}${path}`, { method, headers, ...sent })
  if (!answer.ok) throw new Error(`${method} ${path}: ${await answer.text()}`)
  const { data }: { data?: T } = answer.status === 204 ? {} : JSON.parse(await answer.text())
  return data ?? null
}

const browser = await chromium.launch(
  browserPath === undefined ? {} : { executablePath: browserPath },
)
const viewport = { width: 900, height: 760 }
const page = await browser.newPage({ viewport, locale: 'en-GB', timezoneId: 'Europe/Brussels' })
const button = (name: string) => page.getByRole('button', { name, exact: true }).first()
const draw = async (name: string, shown = page) => {
  await shown.waitForLoadState('networkidle')
  await shown.screenshot({ path: `${FOLDER}${name}.png`, animations: 'disabled' })
}

await page.goto(`${base}/#key=${key}`)
await page.locator('article.card').first().waitFor()

await page.goto(`${base}/?q=regenton&search_in=title_body`)
await page.getByText('Shares most of its text').first().click()
await page.getByText('Named as source').first().waitFor()
await draw('copies')

await page.goto(
  `${base}/?search=expression&q=(nachttrein+OR+"night+train")+NEAR/20+(Milaan+OR+Milan)`,
)
await page.getByText('In other languages').first().click()
await page.getByText('within a day').first().waitFor()
await draw('languages')

await page.goto(`${base}/?q=water&search_in=title_body`)
await button('Compare').click()
await button('One search by country').click()
await page.locator('.compare .chart svg').waitFor()
await draw('compare')

await button('Cite').click()
await button('Make the address').click()
await page.locator('.take a[href^="/cite/"]').click()
await button('Show the articles').click()
await page.locator('article.card').first().waitFor()
await page.evaluate('scrollTo(0, 0)')
await draw('cite')

for (const { id, name } of (await send<Kept[]>('GET', '/explore/searches')) ?? [])
  if (['Rivers', 'Night trains'].includes(name)) await send('DELETE', `/explore/searches/${id}`)
const expression = '(nachttrein OR "night train") NEAR/20 (Milaan OR Milan)'
const kept = {
  search: `search=expression&q=${encodeURIComponent(expression)}`,
  name: 'Night trains',
}
await send('POST', '/explore/searches', kept)
const rivers = { search: 'q=water rivier Fluss&search_in=title_body&country=BE,LU', name: 'Rivers' }
const { id } = (await send<Kept>('POST', '/explore/searches', rivers))!
await send('PUT', `/explore/searches/${id}/alert`, {
  to: 'mailto:desk@news.example',
  when: 'monday 08:00',
  time_zone: 'Europe/Brussels',
  language: 'en',
})
await page.goto(`${base}/searches?search=${id}`)
await page.locator('details[open] select').first().waitFor()
await draw('kept')

const articlesOf = async (q: string): Promise<ToldArticle[]> => {
  const answer = await fetch(`${base}/v1/articles?search_in=title_body&q=${q}&per_page=2`, {
    headers: { authorization: `Bearer ${key}` },
  })
  return JSON.parse(await answer.text()).articles
}
const alert = { when: 'monday 08:00', zone: 'Europe/Brussels', language: 'en' as const }
const sectionOf = async (name: string, q: string): Promise<Section> => {
  const articles = await articlesOf(q)
  return {
    alert: { id: 'alert_0', to: 'mailto:desk@news.example', ...alert },
    message: { id: 'msg_0', type: 'articles', search: { id, name }, articles, more: 0 },
    query: `q=${q}`,
    found: articles.length,
  }
}
const links = { base: 'https://news.example', ending: () => 'https://news.example/unsubscribe/' }
const sections = [await sectionOf('Rivers', 'water'), await sectionOf('Night trains', 'nachttrein')]
const mail = await browser.newPage({ viewport: { ...viewport, width: 600 } })
await mail.setContent(letter(sections, 'Perscope', links).html)
await draw('mail', mail)
await browser.close()

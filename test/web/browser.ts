import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import type { Test } from 'tap'

/**
 * Where Debian and others have Chromium; undefined: this machine has none. Its shell without
 * windows lays pages out as Chromium does, in 0.6 of the processor time.
 */
export const browserPath: string | undefined = [
  '/usr/lib/chromium/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
].find(existsSync)

/** A browser until the test ends. */
export async function launch(test: Pick<Test, 'teardown'>): Promise<Browser> {
  const executable = browserPath ? { executablePath: browserPath } : {}
  const browser = await chromium.launch({ ...executable, args: ['--no-sandbox'] })
  test.teardown(() => browser.close())
  return browser
}

/** A page as somebody sees it. */
export interface Seen {
  page: Page
  /** What it complained of, and what it asked of others. */
  complaints: string[]
  /** Addresses of all its requests. */
  asked: string[]
  close(): Promise<void>
}

/** @param path with the fragment */
export async function open(
  browser: Browser,
  base: string,
  path: string,
  options: BrowserContextOptions = {},
): Promise<Seen> {
  const context = await browser.newContext({
    locale: 'en-GB',
    timezoneId: 'Europe/Brussels',
    acceptDownloads: true,
    ...options,
  })
  context.setDefaultTimeout(40_000) // on a busy machine
  // A dialog of the operating system that no test can answer.
  await context.addInitScript('delete window.showSaveFilePicker')
  const page = await context.newPage()
  const complaints: string[] = []
  const asked: string[] = []
  page.on(
    'console',
    message => ['error', 'warning'].includes(message.type()) && complaints.push(message.text()),
  )
  page.on('pageerror', error => complaints.push(error.message))
  page.on('request', request => {
    asked.push(request.url())
    if (!/^(blob:)?http:\/\/127\.0\.0\.1:/.test(request.url()))
      complaints.push(`asked ${request.url()}`)
  })
  await page.goto(`${base}${path}`)
  return { page, complaints, asked, close: () => context.close() }
}

type Opener = (
  test: Pick<Test, 'teardown'>,
  path: string,
  options?: BrowserContextOptions,
) => Promise<Seen>

/** Opens pages of one server, each until its test ends. */
export const opener =
  (browser: Browser, base: string): Opener =>
  async (test, path, options) => {
    const seen = await open(browser, base, path, options)
    test.teardown(seen.close)
    return seen
  }

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** What axe finds on the page, a line each, once it shows nothing dimmed that it reads anew. */
export async function axe(page: Page): Promise<string[]> {
  await page.locator('.stale:not(.status)').first().waitFor({ state: 'detached' })
  await page.evaluate(AXE)
  const found: unknown = await page.evaluate(
    `axe.run(document, { resultTypes: ['violations'], runOnly: ['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa', 'best-practice'] })
       .then(({ violations }) => violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html.slice(0, 200)).join(' | ')))`,
  )
  return Array.isArray(found) ? found.map(String) : [`axe answered ${JSON.stringify(found)}`]
}

/** How far the page is wider than the window, in pixels. */
export async function overhang(page: Page): Promise<number> {
  return Number(await page.evaluate('document.documentElement.scrollWidth - innerWidth'))
}

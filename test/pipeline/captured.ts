import { existsSync, readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { gunzipSync } from 'node:zlib'

/** Captured pages and what others found in them, as `INDEX.md` beside the data describes it. */
export const FOLDER = new URL('../../../shared/data/', import.meta.url)

export const isCaptured = (): boolean => existsSync(new URL('html-fundus/index.jsonl', FOLDER))

/** A page with its ground truth. */
export interface CapturedPage {
  publisher: string
  language: string
  /** Path and query at the publisher. */
  path: string
  html: Buffer
  title: string
  authors: string[]
  publishedAt: Date | null
  /** Summary and paragraphs, in order. */
  body: string
}

interface Truth {
  title: string
  authors: string[]
  publishing_date: string | null
  body: { summary: string[]; sections: { headline: string[]; paragraphs: string[] }[] } | null
}

/**
 * The pages of html-fundus; of a publisher's several truths, the one whose title stands in the page
 * is taken.
 */
export function capturedPages(): CapturedPage[] {
  const read = (name: string) => gunzipSync(readFileSync(new URL(`html-fundus/${name}`, FOLDER)))
  const lines = readFileSync(new URL('html-fundus/index.jsonl', FOLDER), 'utf8').trim().split('\n')
  return lines.flatMap(line => {
    const entry: { file: string; country: string; publisher: string; lang_attr: string; url: string } = JSON.parse(line)
    const html = read(entry.file)
    const truths: Record<string, Truth> = JSON.parse(
      read(`${entry.country}/${entry.publisher}.truth.json.gz`).toString(),
    )
    const text = html.toString()
    const truth = Object.values(truths).find(
      ({ title }) => text.includes(title) || text.includes(title.replaceAll('"', '\\"')),
    )
    if (!truth) return []
    const url = new URL(entry.url)
    return [
      {
        publisher: entry.publisher,
        language: entry.lang_attr.slice(0, 2).toLowerCase(),
        path: url.pathname + url.search,
        html,
        title: truth.title,
        authors: truth.authors,
        publishedAt: truth.publishing_date ? new Date(truth.publishing_date) : null,
        body: [
          ...(truth.body?.summary ?? []),
          ...(truth.body?.sections ?? []).flatMap(({ headline, paragraphs }) => [...headline, ...paragraphs]),
        ].join('\n\n'),
      },
    ]
  })
}

export interface Site {
  /** `http://127.1.0.N:port` */
  origin: string
  close(): void
}

/**
 * Serves answers by path at a loopback address of its own, so that every site is a host to be
 * polite to.
 */
export async function serveSite(
  number: number,
  port: number,
  answer: (path: string) => { type: string; body: Buffer | string } | null,
): Promise<Site> {
  const host = `127.1.${Math.floor(number / 250)}.${(number % 250) + 1}`
  const server: Server = createServer((request, response) => {
    const found = answer(request.url ?? '/')
    if (!found) return void response.writeHead(404, { 'content-type': 'text/html' }).end('<h1>Not found</h1>')
    response.writeHead(200, { 'content-type': found.type }).end(found.body)
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, resolve)
  })
  return {
    origin: `http://${host}:${port}`,
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}

/** A plain RSS feed that names the pages by their own <title>, as far as an outlet would. */
export function rssOf(origin: string, pages: CapturedPage[]): string {
  const items = pages.map(({ path, html }) => {
    const title = /<title[^>]*>([^<]*)<\/title>/i.exec(html.toString())?.[1]?.trim() ?? ''
    return `<item><title>${title}</title><link>${escapeXml(origin + path)}</link></item>`
  })
  return `<?xml version="1.0" encoding="UTF-8"?><rss version="2.0"><channel><title>captured</title><link>${origin}</link><description>captured</description>${items.join('')}</channel></rss>`
}

const escapeXml = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')

import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import type { RequestHandler, Router } from 'express'
import { PACKAGES } from '#clients/build'
import { EXAMPLE_SEARCH, PAGE_EXAMPLE } from '#services/api/contract/guide'
import { openApiDocument } from '#services/api/contract/openapi'
import { exploreDocument } from '#services/api/explore/openapi'
import { pageSecurity } from '#services/api/http/security'
import { documentOf, escapeMarkup } from '#shared/encoding/markup'
import { makeFile, sendFile, type WebFile } from './files.ts'
import { webBundle } from './web.ts'

const SWAGGER_UI = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'))

const own = (file: string) => join(import.meta.dirname, 'docs', file)

type Make = (serviceName: string) => Promise<WebFile>
const ASSETS: Readonly<Record<string, Make>> = {
  '/v1/openapi.json': async (serviceName: string) =>
    makeFile('application/json; charset=utf-8', JSON.stringify(openApiDocument(serviceName))),
  '/explore/openapi.json': async (serviceName: string) =>
    makeFile('application/json; charset=utf-8', JSON.stringify(exploreDocument(serviceName))),
  '/docs': page,
  '/docs/changes': changes,
  '/docs/agents.md': () =>
    file('text/markdown; charset=utf-8', join(import.meta.dirname, '../../../docs/agents.md')),
  '/docs/page.css': async () => (await webBundle()).docsStyle,
  '/docs/page.js': () => file('text/javascript; charset=utf-8', own('page.js')),
  '/docs/swagger-ui.js': () =>
    file('text/javascript; charset=utf-8', join(SWAGGER_UI, 'swagger-ui-bundle.js')),
  ...Object.fromEntries(
    Object.entries(PACKAGES).map(([name, make]): [string, Make] => [
      `/clients/${name}`,
      async () => makeFile('application/octet-stream', await make()),
    ]),
  ),
  // A fixed address for the package of the current version.
  '/clients/perscope.tgz': async () =>
    makeFile('application/octet-stream', await Object.values(PACKAGES)[0]!()),
}
export const REFERENCE_PATHS: string[] = Object.keys(ASSETS)

/**
 * `/v1/openapi.json`, `/explore/openapi.json` and `/docs`: the reference, where a visitor can send
 * requests with a key of their own. It is Swagger UI from this server, and the page loads nothing
 * from another server. Its packages for clients are at `/clients/…`.
 */
export function addReferencePages(router: Router, serviceName: string): void {
  // Swagger UI writes style attributes.
  router.get('/docs', pageSecurity({ inlineStyles: true }))
  router.get('/docs/changes', pageSecurity())
  for (const [path, make] of Object.entries(ASSETS)) router.get(path, serve(make, serviceName))
}

/** Makes the asset at the first request for it, and keeps it. */
function serve(make: Make, serviceName: string): RequestHandler {
  let asset: Promise<WebFile> | undefined
  return async (request, response) => {
    asset ??= make(serviceName).catch(error => {
      asset = undefined
      throw error
    })
    await sendFile(request, response, await asset, 'public, max-age=300')
  }
}

async function file(contentType: string, path: string): Promise<WebFile> {
  return makeFile(contentType, await readFile(path))
}

/** The reference page. It begins with examples, which tests run exactly as they are shown. */
async function page(serviceName: string): Promise<WebFile> {
  const [tarball, wheel] = Object.keys(PACKAGES)
  const parts: Record<string, string> = {
    service: serviceName,
    request: `curl -H "Authorization: Bearer $PERSCOPE_KEY" "$PERSCOPE_URL/v1/articles?${EXAMPLE_SEARCH}"`,
    answer: JSON.stringify(PAGE_EXAMPLE, null, 2),
    curl: await readFile(own('poll.sh'), 'utf8'),
    npm: `npm install "$PERSCOPE_URL/clients/${tarball}"`,
    typescript: await pollOf('typescript'),
    pip: `pip install "$PERSCOPE_URL/clients/${wheel}"`,
    python: await pollOf('python'),
  }
  const template = await readFile(own('page.html'), 'utf8')
  const filled = template.replace(/\{\{(\w+)\}\}/g, (_, name: string) =>
    escapeMarkup(parts[name]!.trimEnd()),
  )
  return makeFile('text/html; charset=utf-8', filled)
}

/** CHANGELOG.md as a page: its headings, lists, words in bold and in code, and paragraphs. */
async function changes(serviceName: string): Promise<WebFile> {
  const text = await readFile(join(import.meta.dirname, '../../../CHANGELOG.md'), 'utf8')
  const inline = (part: string) =>
    escapeMarkup(part)
      .replace(/`(.+?)`/gs, '<code>$1</code>')
      .replace(/\*\*(.+?)\*\*/gs, '<strong>$1</strong>')
  const blocks = text.trim().split(/\n\n+/)
  const html = blocks.map(block => {
    const heading = /^(#+) (.*)$/s.exec(block)
    if (heading) return `<h${heading[1]!.length}>${inline(heading[2]!)}</h${heading[1]!.length}>`
    if (!block.startsWith('- ')) return `<p>${inline(block)}</p>`
    return `<ul>${block
      .slice(2)
      .split('\n- ')
      .map(item => `<li>${inline(item)}</li>`)
      .join('')}</ul>`
  })
  const head = '<link rel="icon" href="data:,"><link rel="stylesheet" href="page.css">'
  const bar = '<header class="header row"><a class="wordmark" href="../docs">Perscope</a></header>'
  const body = `${bar}<main class="start wide changes">${html.join('\n')}</main>`
  const page = documentOf('en', `${serviceName} API: changes`, head, body)
  return makeFile('text/html; charset=utf-8', page)
}

/** The example of a poll in the README of a package. */
async function pollOf(client: 'typescript' | 'python'): Promise<string> {
  const readme = await readFile(
    join(import.meta.dirname, '../../../clients', client, 'README.md'),
    'utf8',
  )
  return /^## Poll$[\s\S]*?^```\w+\n([\s\S]*?)^```$/m.exec(readme)?.[1] ?? ''
}

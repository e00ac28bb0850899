import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { type RequestHandler, Router } from 'express'
import { EXAMPLE_SEARCH, PAGE_EXAMPLE } from '../contract/guide.ts'
import { openApiDocument } from '../contract/openapi.ts'
import { exploreDocument } from '../explore/beside-openapi.ts'
import { pageSecurity } from '../http/security.ts'
import { makeFile, sendFile, type WebFile } from './files.ts'
import { webBundle } from './web.ts'

const SWAGGER_UI = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'))

const own = (file: string) => join(import.meta.dirname, 'docs', file)
const example = (file: string) => readFile(join(import.meta.dirname, 'examples', file), 'utf8')

const ASSETS = {
  '/v1/openapi.json': async (serviceName: string) =>
    makeFile('application/json; charset=utf-8', JSON.stringify(openApiDocument(serviceName))),
  '/explore/openapi.json': async (serviceName: string) =>
    makeFile('application/json; charset=utf-8', JSON.stringify(exploreDocument(serviceName))),
  '/docs': page,
  '/docs/page.css': async () => (await webBundle()).docsStyle,
  '/docs/page.js': () => file('text/javascript; charset=utf-8', own('page.js')),
  '/docs/swagger-ui.js': () => file('text/javascript; charset=utf-8', join(SWAGGER_UI, 'swagger-ui-bundle.js')),
} as const

type ReferencePath = keyof typeof ASSETS
export const REFERENCE_PATHS = Object.keys(ASSETS).filter((path): path is ReferencePath => path in ASSETS)

/**
 * `/v1/openapi.json`, `/explore/openapi.json` and `/docs`: the reference, in which a visitor can
 * send a request with a key of theirs. Swagger UI, served from here; the page loads nothing from
 * anywhere else.
 */
export function referencePages(serviceName: string): Router {
  const router = Router({ strict: true, caseSensitive: true })
  // Swagger UI writes style attributes.
  router.get('/docs', pageSecurity({ inlineStyles: true }))
  for (const path of REFERENCE_PATHS) router.get(path, serve(ASSETS[path], serviceName))
  return router
}

/** Makes the asset with the first request for it, and keeps it. */
function serve(make: (serviceName: string) => Promise<WebFile>, serviceName: string): RequestHandler {
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

/**
 * The reference page: its first screen with the examples, which a test runs as they stand there.
 */
async function page(serviceName: string): Promise<WebFile> {
  const parts: Record<string, string> = {
    service: serviceName,
    request: `curl -H "Authorization: Bearer $PERSCOPE_KEY" "$PERSCOPE_URL/v1/articles?${EXAMPLE_SEARCH}"`,
    answer: JSON.stringify(PAGE_EXAMPLE, null, 2),
    curl: await example('poll.sh'),
    typescript: await example('poll.ts'),
    python: await example('poll.py'),
  }
  const template = await readFile(own('page.html'), 'utf8')
  const filled = template.replace(/\{\{(\w+)\}\}/g, (_, name: string) => escapeHtml(parts[name]!.trimEnd()))
  return makeFile('text/html; charset=utf-8', filled)
}

const escapeHtml = (text: string) => text.replace(/[&<>"']/g, character => `&#${character.charCodeAt(0)};`)

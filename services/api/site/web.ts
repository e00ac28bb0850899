import { readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { BuildOptions } from 'esbuild'
import type { RequestHandler, Router } from 'express'
import { ARTICLE_PAGE } from '#services/api/explore/article-by-id'
import { pageSecurity } from '#services/api/http/security'
import { escapeMarkup } from '#shared/encoding/markup'
import { type Bundle, bundleOf, ROOT } from './bundle.ts'
import { makeFile, sendFile, type WebFile } from './files.ts'

/** The path of the bundled files. The name of a file holds a digest of its content. */
const ASSETS_PATH = '/explore/assets/'

const YEAR = 31_536_000

/**
 * The path is a regular expression, because Express would decode a parameter of a path, and fail at
 * a broken percent-encoding.
 */
const ASSET_PATH = new RegExp(`^${ASSETS_PATH}[^/]+$`)

let bundled: Promise<WebBundle> | undefined

/**
 * The pages of `web/`, bundled once in each process. After a failed attempt, the next request tries
 * again.
 */
export function webBundle(): Promise<WebBundle> {
  bundled ??= bundlePages(process.env.NODE_COMPILE_CACHE).catch(error => {
    bundled = undefined
    throw error
  })
  return bundled
}

/**
 * The explorer, at `/`, at the page of an article and at `/searches`, and the files of all pages.
 * They are open to everybody, because they hold only the program: articles need a key. Other
 * handlers get a path that names no file. They also get the pages when a client does not prefer
 * HTML, so that programs get the contract's error (decision 5).
 */
export function addWebPages(router: Router): void {
  router.get(
    ['/', ARTICLE_PAGE, '/searches'],
    asBrowsersAsk,
    pageSecurity(),
    async (request, response) => {
      const { pages } = await webBundle()
      response.vary('Accept')
      await sendFile(request, response, pages.explorer, 'no-cache')
    },
  )
  router.get(ASSET_PATH, async (request, response, next) => {
    const { assets } = await webBundle()
    const file = assets.get(request.path)
    if (file === undefined) next()
    else await sendFile(request, response, file, `public, max-age=${YEAR}, immutable`)
  })
}

/** The explorer's page with some data in it, and with texts for readers without scripts. */
export async function explorerWith(
  told: { data: Record<string, object>; lines: string[] } | null,
): Promise<string> {
  const { pages } = await webBundle()
  const html = (await pages.explorer.body('identity')).toString()
  const blocks = Object.entries(told?.data ?? {}).map(
    ([type, value]) =>
      `<script type="${type}">${JSON.stringify(value).replaceAll('<', '\\u003c')}</script>`,
  )
  const plain = (told?.lines ?? []).map(line => `<pre>${escapeMarkup(line)}</pre>`)
  return html
    .replace('</head>', () => `${blocks.join('')}</head>`)
    .replace('</noscript>', () => `${plain.join('')}</noscript>`)
}

/** Skips the page unless the client prefers HTML. A client that accepts anything gets no page. */
const asBrowsersAsk: RequestHandler = (request, _response, next) => {
  next(request.accepts(['application/json', 'text/html']) === 'text/html' ? undefined : 'route')
}

/** The pages of `web/`, and the sentence that each shows where no script runs. */
const PAGES = {
  explorer: { title: 'Perscope', instead: 'The API does not: see <a href="/docs">/docs</a>.' },
  status: {
    title: 'Status',
    instead: 'Its figures are at <a href="/status/figures">/status/figures</a>.',
  },
}
type PageName = keyof typeof PAGES

const DOCS_STYLE = { in: 'web/parts/docs.css', out: 'docs' }

interface WebBundle {
  pages: Record<PageName, WebFile>
  /** The style of `/docs`. */
  docsStyle: WebFile
  /** By path. */
  assets: Map<string, WebFile>
}

const TYPES: Record<string, string> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  woff2: 'font/woff2',
}

/** @param folder where what esbuild made is kept for other processes; absent: it is made anew */
export async function bundlePages(folder?: string): Promise<WebBundle> {
  const bundle = await bundleOf(OPTIONS, folder)
  const assets = new Map(
    [...bundle.files].map(([path, bytes]) => [pathOf(path), makeFile(typeOf(path), bytes)]),
  )
  const page = async (name: PageName) =>
    makeFile('text/html; charset=utf-8', await pageOf(name, bundle))
  const docsStyle = [...assets].find(([path]) => path.startsWith(`${ASSETS_PATH}docs-`))?.[1]
  if (docsStyle === undefined) throw new Error(`esbuild made no style of ${DOCS_STYLE.in}.`)
  return {
    pages: { explorer: await page('explorer'), status: await page('status') },
    docsStyle,
    assets,
  }
}

/**
 * The files are not compressed here, because that takes much longer, and a process that starts is
 * warming up while others answer.
 */
const OPTIONS: BuildOptions = {
  entryPoints: [
    ...Object.keys(PAGES).map(name => ({ in: `web/${name}/main.tsx`, out: name })),
    DOCS_STYLE,
  ],
  bundle: true,
  splitting: true,
  format: 'esm',
  target: ['es2022'],
  jsx: 'automatic',
  jsxImportSource: 'preact',
  minify: true,
  outdir: '/assets',
  publicPath: ASSETS_PATH.replace(/\/$/, ''),
  entryNames: '[name]-[hash]',
  chunkNames: '[name]-[hash]',
  assetNames: '[name]-[hash]',
  loader: { '.woff2': 'file' },
  legalComments: 'none',
  logLevel: 'silent',
}

/** The page's HTML with the addresses of its script, its style and the script's imports. */
async function pageOf(name: PageName, { outputs }: Bundle): Promise<Buffer> {
  const template = await readFile(join(ROOT, 'web/parts/page.html'), 'utf8')
  const [script, output] =
    Object.entries(outputs).find(([, { entryPoint }]) => entryPoint === `web/${name}/main.tsx`) ??
    []
  if (script === undefined || output === undefined)
    throw new Error(`esbuild made no script of web/${name}/main.tsx.`)
  const address = (path: string) => `${ASSETS_PATH}${basename(path)}`
  const preloads = output.imports
    .filter(({ kind }) => kind === 'import-statement')
    .map(({ path }) => `<link rel="modulepreload" href="${address(path)}">`)
  const style =
    output.cssBundle === undefined
      ? []
      : [`<link rel="stylesheet" href="${address(output.cssBundle)}">`]
  const links = [...style, ...preloads, `<script type="module" src="${address(script)}"></script>`]
  const parts: Record<string, string> = { ...PAGES[name], bundle: links.join('\n    ') }
  return Buffer.from(template.replace(/\{\{(\w+)\}\}/g, (_mark, part) => parts[part] ?? ''))
}

const pathOf = (path: string) => `${ASSETS_PATH}${basename(path)}`
const typeOf = (path: string) =>
  TYPES[path.slice(path.lastIndexOf('.') + 1)] ?? 'application/octet-stream'

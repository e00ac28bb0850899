import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { type BuildResult, build, type OutputFile, stop } from 'esbuild'

/** The pages that are made from `web/`: each folder has `main.tsx` and `page.html`. */
const PAGES = ['explorer', 'status'] as const
export type PageName = (typeof PAGES)[number]

/** Where browsers find the bundled files. Their names hold a digest of what is in them. */
export const ASSETS_PATH = '/explore/assets/'

export type Coding = 'identity' | 'gzip' | 'br'

/** A file as it is sent. */
export interface WebFile {
  contentType: string
  etag: string
  /** `identity` is the file itself. The others are made when they are first asked for, and kept. */
  body(coding: Coding): Promise<Buffer>
}

export interface WebBundle {
  pages: Record<PageName, WebFile>
  /** By path. */
  assets: Map<string, WebFile>
}

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))
const TYPES: Record<string, string> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  woff2: 'font/woff2',
}

/**
 * Makes all pages from their sources, in memory. Takes 0.1 s of processor time, most of it in
 * esbuild's own process. To compress all files takes 0.35 s more. A process that has just started
 * does not: it warms up then, and often others answer requests on the same processors.
 *
 * @throws when a source is wrong, or esbuild's program is not installed for this platform
 */
export async function bundlePages(): Promise<WebBundle> {
  const built = await runEsbuild()
  const assets = new Map(
    built.outputFiles.map(file => [pathOf(file), webFile(typeOf(file.path), Buffer.from(file.contents))]),
  )
  const page = async (name: PageName) => webFile('text/html; charset=utf-8', await pageOf(name, built))
  return { pages: { explorer: await page('explorer'), status: await page('status') }, assets }
}

type Built = BuildResult<{ write: false; metafile: true }>

async function runEsbuild(): Promise<Built> {
  try {
    return await build({
      absWorkingDir: ROOT,
      entryPoints: PAGES.map(name => ({ in: `web/${name}/main.tsx`, out: name })),
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
      write: false,
      metafile: true,
    })
  } finally {
    // esbuild's process would stay for further builds.
    await stop()
  }
}

/** The page's HTML with the addresses of its script, its style and what the script imports. */
async function pageOf(name: PageName, { metafile }: Built): Promise<Buffer> {
  const template = await readFile(join(ROOT, 'web', name, 'page.html'), 'utf8')
  const [script, output] =
    Object.entries(metafile.outputs).find(([, { entryPoint }]) => entryPoint === `web/${name}/main.tsx`) ?? []
  if (script === undefined || output === undefined) throw new Error(`esbuild made no script of web/${name}/main.tsx.`)
  const address = (path: string) => `${ASSETS_PATH}${basename(path)}`
  const preloads = output.imports
    .filter(({ kind }) => kind === 'import-statement')
    .map(({ path }) => `<link rel="modulepreload" href="${address(path)}">`)
  const style = output.cssBundle === undefined ? [] : [`<link rel="stylesheet" href="${address(output.cssBundle)}">`]
  const links = [...style, ...preloads, `<script type="module" src="${address(script)}"></script>`]
  return Buffer.from(template.replace('<!-- bundle -->', links.join('\n    ')))
}

const pathOf = (file: OutputFile) => `${ASSETS_PATH}${basename(file.path)}`
const typeOf = (path: string) => TYPES[path.slice(path.lastIndexOf('.') + 1)] ?? 'application/octet-stream'

const gzipped = promisify(gzip)
const brotli = promisify(brotliCompress)

function webFile(contentType: string, file: Buffer): WebFile {
  const etag = `W/"${createHash('sha256').update(file).digest('base64url').slice(0, 27)}"`
  const made = new Map<Coding, Promise<Buffer>>()
  return {
    contentType,
    etag,
    body(coding) {
      const body = made.get(coding) ?? COMPRESS[coding](file)
      made.set(coding, body)
      return body
    },
  }
}

const COMPRESS: Record<Coding, (file: Buffer) => Promise<Buffer>> = {
  identity: async file => file,
  gzip: file => gzipped(file, { level: 9 }),
  br: file =>
    brotli(file, {
      params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: file.length },
    }),
}

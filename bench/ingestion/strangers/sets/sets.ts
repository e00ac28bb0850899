import { access } from 'node:fs/promises'
import { join } from 'node:path'
import type { TruePage } from '../../truth.ts'
import { extractionPages } from './extraction.ts'
import { mediacloudPages } from './mediacloud.ts'
import { metascraperPages } from './metascraper.ts'
import { newspaperPages } from './newspaper.ts'

/** A public set that is no part of this repository. */
export interface PublicSet {
  name: 'extraction' | 'newspaper' | 'mediacloud' | 'metascraper'
  /** At github.com. */
  repository: string
  commit: string
  /** The files that are fetched. */
  paths: string[]
  licence: string
  /** Its pages are never looked at, in no fold. */
  scoredOnly: boolean
  pages(folder: string): AsyncGenerator<TruePage>
}

export const PUBLIC_SETS: readonly PublicSet[] = [
  {
    name: 'extraction',
    repository: 'AndyTheFactory/article-extraction-dataset',
    commit: 'cf3e2959ffc4fde13e0714d2b6d50c2bd220ed3b',
    paths: ['articles.json', 'html', 'LICENSE'],
    licence: 'Apache-2.0',
    scoredOnly: false,
    pages: extractionPages,
  },
  {
    name: 'newspaper',
    repository: 'codelucas/newspaper',
    commit: '1618b547f31c2d1fd19ae3b6afd8f7542dd02074',
    paths: ['tests/data', 'LICENSE'],
    licence: 'MIT',
    scoredOnly: false,
    pages: newspaperPages,
  },
  {
    name: 'mediacloud',
    repository: 'mediacloud/metadata-lib',
    commit: '23948e286dbadf9d05cae697de22c7e505304d05',
    paths: ['mcmetadata/test', 'LICENSE'],
    licence: 'Apache-2.0',
    scoredOnly: false,
    pages: mediacloudPages,
  },
  {
    name: 'metascraper',
    repository: 'microlinkhq/metascraper',
    commit: '20423f52ef9b4a07d3b25e56e34d2756b3291250',
    paths: ['packages/metascraper/test/integration', 'LICENSE.md'],
    licence: 'MIT',
    scoredOnly: true,
    pages: metascraperPages,
  },
]

/** Where a set lies below the folder of all sets. */
export function folderOf(sets: string, set: PublicSet): string {
  return join(sets, set.repository.slice(set.repository.indexOf('/') + 1))
}

/** The pages of a public set. When it is absent, yields none and says so on standard error. */
export async function* publicPages(sets: string, set: PublicSet): AsyncGenerator<TruePage> {
  const folder = folderOf(sets, set)
  const found = await access(folder).then(
    () => true,
    () => false,
  )
  if (found) yield* set.pages(folder)
  else process.stderr.write(`skipped: no set ${set.name} in ${sets}; npm run bench -- ingestion --fetch clones it\n`)
}

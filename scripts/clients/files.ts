import { readFile, writeFile } from 'node:fs/promises'
import { openApiDocument } from '../../services/api/contract/openapi.ts'
import { pythonTypes } from './python.ts'
import type { ApiDocument } from './schema.ts'
import { typescriptTypes } from './typescript.ts'

/** A file that is written, with what it should hold. */
export interface Written {
  path: string
  content: string
}

const PRINTERS: readonly { path: string; print: (document: ApiDocument) => string }[] = [
  { path: 'clients/typescript/src/contract.ts', print: typescriptTypes },
  { path: 'clients/python/src/perscope/_contract.py', print: pythonTypes },
]

const place = (path: string) => new URL(`../../${path}`, import.meta.url)

/** The files that are not what the OpenAPI document says. */
export async function staleFiles(): Promise<Written[]> {
  // The document as its readers get it: JSON.
  const document: ApiDocument = JSON.parse(JSON.stringify(openApiDocument('Perscope')))
  const wanted = PRINTERS.map(({ path, print }) => ({ path, content: print(document) }))
  const current = await Promise.all(wanted.map(({ path }) => readFile(place(path), 'utf8').catch(() => '')))
  return wanted.filter(({ content }, index) => content !== current[index])
}

export async function writeFiles(files: readonly Written[]): Promise<void> {
  for (const { path, content } of files) await writeFile(place(path), content)
}

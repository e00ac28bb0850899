import { readFileSync } from 'node:fs'
import type { Test } from 'tap'
import type { TestApi } from '#test/contract/api'
import { NEW_SEARCH } from '#web/explorer/search/search'
import { type CodeLanguage, codeOf } from '#web/explorer/take/code'

/** The code blocks of a document in one language, each a program, without its indentation. */
export function blocksOf(path: string, fence: string): string[] {
  const page = readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')
  const blocks = page.matchAll(new RegExp(`^( *)\`\`\`${fence}\n([\\s\\S]*?)^ *\`\`\`$`, 'gm'))
  return [...blocks].map(([, indent, code = '']) =>
    code.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
  )
}

export const examplesOf = (client: 'typescript' | 'python', fence: string): string[] =>
  blocksOf(`clients/${client}/README.md`, fence)

/** The steps of a README that install its package, for one API and one key. */
export const installationOf = (
  client: 'typescript' | 'python',
  base: string,
  key: string,
): string =>
  (examplesOf(client, 'sh')[0] ?? '').replace('http://127.0.0.1:8080', base).replace('psk_…', key)

/** Programs that the explorer writes for searches which find the articles of `indexNews`. */
export const codesOf = (base: string, language: CodeLanguage): string[] =>
  [
    NEW_SEARCH,
    {
      ...NEW_SEARCH,
      q: '"de trein"',
      mode: 'boolean' as const,
      countries: ['BE' as const],
      hasAuthor: false,
    },
    {
      ...NEW_SEARCH,
      q: 'trein',
      languages: ['nl' as const, 'fr' as const],
      outlet: `De Dag`,
      order: 'asc' as const,
    },
  ].map(search => codeOf(search, base, language))

/**
 * Runs programs, each as a test of its own. Those of a README that poll must go on where they were.
 *
 * @param run returns what a program prints
 */
export async function runExamples(
  t: Test,
  api: TestApi,
  examples: { file: string; code: string }[],
  run: (file: string) => Promise<string>,
): Promise<void> {
  for (const { file, code } of examples) {
    await t.test(file, async t => {
      t.not((await run(file)).trim(), '', code)
    })
  }
  const { file } = examples.find(({ code }) => /\.poll\(/.test(code))!
  t.equal(await run(file), '', 'the state of a poll says what it has')
  await api.index([{ title: 'Nieuw sinds de laatste keer' }])
  t.match(await run(file), /^\S+ Nieuw sinds de laatste keer\n$/)
}

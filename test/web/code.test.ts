import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { NEW_SEARCH } from '../../web/explorer/search/search.ts'
import { type CodeLanguage, codeOf } from '../../web/explorer/take/code.ts'
import { startTestApi } from '../contract/api.ts'

const api = await startTestApi()
const folder = mkdtempSync(join(tmpdir(), 'code-'))
t.teardown(async () => {
  await api.stop()
  rmSync(folder, { recursive: true })
})
const { secret } = await api.issue()
const TITLE = `Het "huis" van d'Arc & zoon`
await api.index(Array.from({ length: 130 }, (_, index) => ({ title: `${TITLE} ${index}` })))

const RUN: Record<CodeLanguage, [program: string, file: string]> = {
  curl: ['sh', 'search.sh'],
  TypeScript: [process.execPath, 'search.ts'],
  Python: ['python3', 'search.py'],
}

async function run(language: CodeLanguage, code: string, key = secret, timeout = 60_000): Promise<string> {
  const [program, name] = RUN[language]
  const file = join(folder, name)
  writeFileSync(file, code)
  const env = { PATH: process.env.PATH, PERSCOPE_KEY: key }
  const { stdout } = await promisify(execFile)(program, [file], { env, timeout })
  return stdout
}

const search = { ...NEW_SEARCH, q: `"d'arc & zoon" huis`, mode: 'boolean' as const, outlet: 'De Dagkoerier' }

t.test('issue 21.4: the search as curl, TypeScript and Python runs as it is copied', async t => {
  const page = JSON.parse(await run('curl', codeOf(search, api.base, 'curl')))
  t.equal(page.total_results, 130)
  t.equal(page.articles.length, 25)
  for (const language of ['TypeScript', 'Python'] as const) {
    const lines = (await run(language, codeOf(search, api.base, language))).trim().split('\n')
    t.equal(new Set(lines).size, 130, `${language}: every article, over several pages`)
    t.match(lines[0], `2026-01-01T02:10:00.000Z ${TITLE} 129`)
  }
})

t.test('issue 21.4: a program waits for the next minute, not for the next month', async t => {
  for (const language of ['TypeScript', 'Python'] as const) {
    const { secret: spent } = await api.issue({ quota: 1 })
    const code = codeOf(search, api.base, language)
    const ended = await run(language, code, spent, 15_000).catch((error: unknown) => error)
    t.match(ended, { killed: false, stderr: /quota_exceeded/ }, language)
  }
})

t.test('issue 21.4: what is copied holds no key', async t => {
  for (const language of ['curl', 'TypeScript', 'Python'] as const) {
    const code = codeOf(search, api.base, language)
    t.notMatch(code, 'psk_')
    t.match(code, 'PERSCOPE_KEY')
  }
})

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { foldWord, stem } from '../../search/analysis/index.ts'
import type { Language } from '../../shared/articles/article.ts'

const VOCABULARIES: [string, Language][] = [
  ['dutch', 'nl'],
  ['french', 'fr'],
  ['german', 'de'],
  ['english', 'en'],
]

/**
 * Words of Snowball's published vocabularies whose stem is the published one, in percent. Our
 * stemmer gets words without accents, because searches ignore accents. The comparison ignores them
 * too.
 */
export async function measureStems(data: string): Promise<Record<string, number>> {
  const figures: Record<string, number> = {}
  for (const [name, language] of VOCABULARIES) {
    const packed = await readFile(join(data, 'stem-snowball', `${name}.jsonl.gz`)).catch(() => null)
    if (packed === null) {
      process.stderr.write(`skipped: no vocabulary ${name} in ${data}\n`)
      continue
    }
    const pairs: [string, string][] = gunzipSync(packed)
      .toString()
      .trim()
      .split('\n')
      .map(line => JSON.parse(line))
    const right = pairs.filter(([word, published]) => foldWord(stem(language, foldWord(word))) === foldWord(published))
    figures[`stems_${language}`] = Math.round((right.length / pairs.length) * 10_000) / 100
  }
  return figures
}

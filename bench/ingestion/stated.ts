import { hash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { type Figures, percent, say } from '#bench/figures'
import { parsePage } from '#services/normaliser/markup/tree'
import { readMetadata } from '#services/normaliser/metadata/metadata'
import { statementsOf } from '#services/normaliser/metadata/statements'
import { decodeText } from '#shared/encoding/decode'

/*
 * Compares what we say of section, kind and access with what a person saw on the same pages.
 * `judged.tsv` has a page a line: its language, its file below the data, and what each field is.
 * Sections are hashes, because no text of a page is copied.
 */

/** Nothing is seen that the outlet could have said. */
const NOTHING = ['-', 'other']
/** Not judged. */
const UNJUDGED = '?'

/** What a person saw: a kind, or `other` for what is none; `free` or `paid`. */
interface Judged {
  language: string
  file: string
  section: string
  kind: string
  access: string
}

/** Prints for each field, and each language, what is said, right, seen and found. */
export async function measureStated(data: string): Promise<Figures> {
  const figures: Figures = {}
  const tallies = new Map<string, { said: number; right: number; seen: number }>()
  for (const { language, file, ...seen } of await readJudged()) {
    const bytes = await readFile(join(data, file)).catch(() => null)
    if (bytes === null) {
      say(`skipped: no ${file} in ${data}`)
      continue
    }
    const said = statedOn(file.endsWith('.gz') ? gunzipSync(bytes) : bytes)
    for (const field of ['section', 'kind', 'access'] as const) {
      const value = field === 'section' ? sectionMark(said.section) : said[field]
      const truth = seen[field]
      if (truth === UNJUDGED) continue
      for (const name of [field, `${field}_${language}`]) {
        const tally = tallies.get(name) ?? { said: 0, right: 0, seen: 0 }
        tallies.set(name, {
          said: tally.said + Number(value !== null),
          right: tally.right + Number(value !== null && value === truth),
          seen: tally.seen + Number(!NOTHING.includes(truth)),
        })
      }
    }
  }
  for (const [name, { said, right, seen }] of tallies)
    Object.assign(figures, {
      [`stated_${name}_said`]: said,
      [`stated_${name}_right`]: percent(right, said),
      [`stated_${name}_seen`]: seen,
      [`stated_${name}_found`]: percent(right, seen),
    })
  return figures
}

async function readJudged(): Promise<Judged[]> {
  const text = await readFile(new URL('./judged.tsv', import.meta.url), 'utf8')
  return text
    .trim()
    .split('\n')
    .map(line => {
      const [language = '', section = '', kind = '', access = '', file = ''] = line.split('\t')
      return { language, section, kind, access, file }
    })
}

function statedOn(bytes: Buffer) {
  const html = decodeText(bytes, { contentType: null, kind: 'html' })
  const page = parsePage(html)
  const url = page.$('link[rel~="canonical" i]').attr('href') ?? ''
  const meta = readMetadata(page, URL.canParse(url) ? url : 'https://x.example/a')
  return statementsOf(meta, null)
}

const sectionMark = (section: string | null): string | null =>
  section === null ? null : hash('md5', section).slice(0, 6)

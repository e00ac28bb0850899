// Part of `npm run format`: wraps the prose of documents, and the comments where they are checked.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { checkedPrograms, documents, ROOT, read } from './prose/checkout.ts'
import { wrapComments, wrapMarkdown } from './prose/wrap.ts'

const named = process.argv.slice(2)

for (const [files, wrap] of [
  [documents(), wrapMarkdown],
  [checkedPrograms(named), wrapComments],
] as const) {
  for (const file of files) {
    const text = read(file)
    const wrapped = wrap(text)
    if (wrapped === text) continue
    writeFileSync(join(ROOT, file), wrapped)
    console.log(`wrapped ${file}`)
  }
}

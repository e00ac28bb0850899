import t from 'tap'
import { CHECKED, checkedPrograms, commentLines, documents, read } from '../../scripts/prose/checkout.ts'
import { COLUMNS, isTooLong, proseOf, wrapComments, wrapMarkdown } from '../../scripts/prose/wrap.ts'

for (const file of documents()) {
  t.test(`${file} wraps at ${COLUMNS} columns (npm run format)`, async t => {
    t.strictSame(
      proseOf(read(file)).filter(({ text }) => isTooLong(text)),
      [],
    )
  })
}

t.test(`comments wrap at ${COLUMNS} columns (npm run format)`, async t => {
  const files = checkedPrograms()
  for (const place of CHECKED) t.ok(files.includes(place) || files.some(file => file.startsWith(`${place}/`)), place)
  for (const file of files)
    for (const { number, text } of commentLines(file)) if (isTooLong(text)) t.fail(`${file}:${number} is too long`)
})

const LONG = Array.from({ length: 40 }, (_, index) => `word${index}`).join(' ')

t.test('what is wrapped keeps its words, its lists and its code', async t => {
  const markdown = `# Title\n\n${LONG}\n\n- ${LONG}\n  more\n- short\n\n| ${LONG} |\n\n\`\`\`\n${LONG}\n\`\`\`\n`
  const wrapped = wrapMarkdown(markdown)
  t.strictSame(wrapped.split(/\s+/), markdown.split(/\s+/))
  t.notOk(proseOf(wrapped).some(({ text }) => isTooLong(text)))
  t.ok(wrapped.includes(`| ${LONG} |`) && wrapped.includes(`\n${LONG}\n`), 'tables and code stay')
  t.match(wrapped, /\n- word0 .*\n {2}word/, 'lines of a list stay indented')
  t.equal(wrapMarkdown(wrapped), wrapped)
})

t.test('no line begins with what would be read as a list', async t => {
  for (let length = 80; length < 100; length++) {
    const wrapped = wrapMarkdown(`${'x'.repeat(length)} is 400. ${LONG} - 1`)
    t.notOk(
      wrapped.split('\n').some(line => /^(400\.|-)( |$)/.test(line) || isTooLong(line)),
      `${length}`,
    )
  }
})

t.test('what is wrapped in a program is comments only', async t => {
  const program = `const a = '${LONG}'\n/** ${LONG} @param b ${LONG} */\n  // ${LONG}\n  // more\nb() // ${LONG}\n`
  const wrapped = wrapComments(program)
  t.ok(wrapped.startsWith(`const a = '${LONG}'\n/**\n * word0 `))
  t.match(wrapped, /\n \* @param b word0 /)
  t.match(wrapped, /\n {2}\/\/ word0 .*\n {2}\/\/ word/)
  t.ok(wrapped.includes(`b() // ${LONG}\n`), 'a comment behind code stays')
  t.equal(wrapComments(wrapped), wrapped)
})

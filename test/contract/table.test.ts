import { readdirSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import t from 'tap'

const page = await readFile(new URL('../../docs/contract.md', import.meta.url), 'utf8')
const read = (file: string) => readFile(new URL(`../../${file}`, import.meta.url), 'utf8')

/** The numbers of the decisions on the page. */
const decisions = [...page.matchAll(/^### Decision (\d+): /gm)].map(([, number]) => Number(number))

/** The numbers in "decision 22", "decisions 9–15, 21 to 23". */
function numbersIn(text: string): number[] {
  return [...text.matchAll(/\bdecisions? (\d+(?:(?:, | and |, and | to |–)\d+)*)/gi)].flatMap(
    ([, list = '']) =>
      list.split(/, and |, | and /).flatMap(one => {
        const [first = 0, last = first] = one.split(/ to |–/).map(Number)
        return Array.from({ length: last - first + 1 }, (_, index) => first + index)
      }),
  )
}

t.test('the page has every decision once, in order', async t => {
  const inOrder = Array.from(decisions, (_, index) => index + 1)
  t.strictSame(decisions, inOrder)
  t.ok(decisions.length >= 40)
})

t.test('every decision has a test that names it by itself', async t => {
  const tests = await Promise.all(
    sourceFiles()
      .filter(file => file.endsWith('.test.ts'))
      .map(read),
  )
  for (const number of decisions) {
    const named = new RegExp(`\\bdecision ${number}\\b`, 'i')
    t.ok(
      tests.some(text => named.test(text)),
      `decision ${number}`,
    )
  }
})

t.test('every decision that the code names is on the page', async t => {
  const files = await Promise.all(
    sourceFiles().map(async file => ({ file, numbers: numbersIn(await read(file)) })),
  )
  t.ok(files.some(({ numbers }) => numbers.length > 0))
  for (const { file, numbers } of files)
    for (const number of numbers)
      if (!decisions.includes(number)) t.fail(`${file} names decision ${number}`)
})

/** Programs and SQL of this checkout. */
function sourceFiles(): string[] {
  const folders = [
    'search',
    'services',
    'shared',
    'status',
    'scripts',
    'infra/migrations',
    'bench',
    'test',
  ]
  return folders.flatMap(folder =>
    readdirSync(new URL(`../../${folder}`, import.meta.url), { recursive: true, encoding: 'utf8' })
      .filter(name => /\.(ts|mjs|sql)$/.test(name))
      .map(name => `${folder}/${name}`),
  )
}

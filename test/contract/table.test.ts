import { readdirSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import t from 'tap'

const page = await readFile(new URL('../../docs/contract.md', import.meta.url), 'utf8')
const read = (file: string) => readFile(new URL(`../../${file}`, import.meta.url), 'utf8')

/** The text of each decision, by its number. */
const decisions = new Map(
  page.split(/^(?=##+ )/m).flatMap(
    text =>
      text
        .match(/^### Decision (\d+): /)
        ?.slice(1)
        .map(number => [Number(number), text] as const) ?? [],
  ),
)

/** The numbers in "decision 22", "decisions 9–15, 21 to 23". */
function numbersIn(text: string): number[] {
  return [...text.matchAll(/\bdecisions? (\d+(?:(?:, | and |, and | to |–)\d+)*)/gi)].flatMap(([, list = '']) =>
    list.split(/, and |, | and /).flatMap(one => {
      const [first = 0, last = first] = one.split(/ to |–/).map(Number)
      return Array.from({ length: last - first + 1 }, (_, index) => first + index)
    }),
  )
}

t.test('the page has every decision once, in order', async t => {
  const numbers = [...page.matchAll(/^### Decision (\d+): /gm)].map(match => Number(match[1]))
  const inOrder = Array.from({ length: numbers.length }, (_, index) => index + 1)
  t.strictSame(numbers, inOrder)
  t.ok(numbers.length >= 40)
})

t.test('every test that docs/contract.md names for a decision names that decision', async t => {
  for (const [number, text] of decisions) {
    if (/^Not built yet: /m.test(text)) continue
    const files = [...text.slice(text.lastIndexOf('Held by')).matchAll(/`([^`]+\.test\.ts)`/g)].map(
      match => match[1] ?? '',
    )
    t.ok(text.includes('Held by') && files.length > 0, `decision ${number} has a test`)
    for (const file of files)
      t.match(await read(file), new RegExp(`decision ${number}\\b`, 'i'), `${file} names decision ${number}`)
  }
})

t.test('every decision that the code names is on the page', async t => {
  const files = await Promise.all(sourceFiles().map(async file => ({ file, numbers: numbersIn(await read(file)) })))
  t.ok(files.some(({ numbers }) => numbers.length > 0))
  for (const { file, numbers } of files)
    for (const number of numbers) if (!decisions.has(number)) t.fail(`${file} names decision ${number}`)
})

/** Programs and SQL of this checkout. */
function sourceFiles(): string[] {
  const folders = ['search', 'services', 'shared', 'status', 'scripts', 'infra/migrations', 'bench', 'test']
  return folders.flatMap(folder =>
    readdirSync(new URL(`../../${folder}`, import.meta.url), { recursive: true, encoding: 'utf8' })
      .filter(name => /\.(ts|mjs|sql)$/.test(name))
      .map(name => `${folder}/${name}`),
  )
}

import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import t from 'tap'

const SPREAD = 'Write the members out, without a spread.'
const LIST = 'Declare each constant by itself.'
const RETURNS = 'Write what an exported function returns.'

const CASES: [string, string | null][] = [
  ['f({ ...{ a, b } })', SPREAD],
  ['f([...[a, b], c])', SPREAD],
  ['f(...[a, b])', SPREAD],
  ['f({ ...(a ? { b } : {}), ...c })', null],
  ['const [a, b] = [1, 2]', LIST],
  ['const [first, ...others] = [...before, after]', null],
  ['export function f() {}', RETURNS],
  ['export async function f() { return g() }', RETURNS],
  ['export default function f() {}', RETURNS],
  ['export const f = () => 1', RETURNS],
  ['export const f = { g() {} }', RETURNS],
  ['export const f = { g: () => 1 }', RETURNS],
  ['export class A { f() {} }', RETURNS],
  ['function f() {}\nconst g = () => 1\nconst h = { f() {}, g }', null],
  ['export function f(): void { const g = () => 1 }', null],
  ['export const f: F = () => 1', null],
  ['export const f = { g(): void {}, h: (): number => 1, i: [() => 1] }', null],
]

t.test('the rules of biome.grit find what they forbid, and leave the rest', async t => {
  const folder = t.testdir({
    'biome.json': JSON.stringify({
      root: true,
      plugins: [resolve('biome.grit')],
      linter: { rules: { preset: 'none' } },
    }),
  })
  for (const [number, [text]] of CASES.entries()) writeFileSync(join(folder, `${number}.ts`), text)
  const { stdout } = spawnSync(
    resolve('node_modules/.bin/biome'),
    ['lint', '--reporter=github', '--max-diagnostics=100', '.'],
    { cwd: folder, encoding: 'utf8' },
  )
  const found = new Map(
    [...stdout.matchAll(/title=plugin,file=.*?(\d+)\.ts,.*::(.*)/g)].map(([, number, message]) => [
      Number(number),
      message,
    ]),
  )
  for (const [number, [text, wanted]] of CASES.entries())
    t.equal(found.get(number) ?? null, wanted, text)
})

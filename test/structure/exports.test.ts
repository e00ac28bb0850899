import t from 'tap'
import { read } from '../docs/checkout.ts'
import { readImports } from './imports.ts'

/*
 * What no other file uses is not exported, so that the compiler names it when its own file no
 * longer uses it either. Types are left out: they name what functions take and return.
 */

const { files, imports } = readImports()

const EXPORTED = /^export (?:async )?(?:const|let|function\*?|class) (\w+)/gm

/** Names that are imported from a file; null: nobody can tell. */
const imported = new Map<string, Set<string> | null>()
for (const { to, names } of imports) {
  const known = imported.get(to)
  if (names === null || known === null) imported.set(to, null)
  else imported.set(to, new Set([...(known ?? []), ...names]))
}

/** `bench/main.ts` calls it by the name of its folder. */
const isBench = (file: string, name: string) => /^bench\/[^/]+\/main\.ts$/.test(file) && name === 'run'

t.test('every exported function and constant is imported by another file', async t => {
  const exported = files.flatMap(file =>
    [...read(file).matchAll(EXPORTED)].map(([, name = '']) => [file, name] as const),
  )
  const unused = exported.filter(([file, name]) => {
    const names = imported.get(file) ?? (imported.has(file) ? null : new Set<string>())
    return names !== null && !names.has(name) && !isBench(file, name)
  })
  t.ok(exported.length > 1_000, `${exported.length} exports`)
  const wrong = unused.map(([file, name]) => `${file} exports ${name}`)
  t.same(wrong, [])
})

import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

/** One import of a file of ours by another. */
export interface Import {
  from: string
  to: string
  /** Of types alone: gone when the program runs. */
  typeOnly: boolean
  /** The names as `to` exports them; null: all of them, or none is named. */
  names: string[] | null
}

const IMPORT =
  /(?:^|\n)\s*(?:import|export)\b([^'"`]*?)\bfrom\s+'([.#][^']+)'|\bimport\(\s*'([.#][^']+)'\s*\)|(?:^|\n)import '([.#][^']+)'/g

/** All imports among the project's own source files, paths from the root. */
export function readImports(): { files: string[]; imports: Import[] } {
  const listed = execFileSync('git', ['ls-files', '*.ts', '*.tsx', '*.mjs'], {
    cwd: ROOT,
    encoding: 'utf8',
  })
  const files = listed.trim().split('\n')
  const imports = files.flatMap(from =>
    [...readFileSync(join(ROOT, from), 'utf8').matchAll(IMPORT)].map(
      ([, names = '', source, dynamic, bare]): Import => ({
        from,
        to: pathOf(from, source ?? dynamic ?? bare ?? ''),
        typeOnly: /^\s*type\b/.test(names),
        names: source === undefined ? null : namesIn(names),
      }),
    ),
  )
  return { files, imports }
}

/** The path that a name leads to: beside the file, or from the root (`imports` of package.json). */
function pathOf(from: string, name: string): string {
  if (!name.startsWith('#')) return join(dirname(from), name)
  return /\.(css|json|tsx)$/.test(name) ? name.slice(1) : `${name.slice(1)}.ts`
}

/** The names of `{ a, type B as C }`; null: `* as all`. */
function namesIn(clause: string): string[] | null {
  if (clause.includes('*')) return null
  const [before = '', inside = ''] = clause.split(/[{}]/)
  const own = inside.split(',').map(
    name =>
      name
        .trim()
        .replace(/^type /, '')
        .split(' as ')[0]!,
  )
  return [
    ...own.filter(name => name !== ''),
    ...(/[\w$]/.test(before.replace(/^\s*type\b/, '')) ? ['default'] : []),
  ]
}

/** Groups of nodes that reach one another (Tarjan's strongly connected components), each sorted. */
export function cyclesOf(edges: readonly (readonly [string, string])[]): string[][] {
  const next = new Map<string, Set<string>>()
  for (const [from, to] of edges) {
    if (from === to) continue
    const known = next.get(from)
    if (known === undefined) next.set(from, new Set([to]))
    else known.add(to)
  }
  const index = new Map<string, number>()
  const low = new Map<string, number>()
  const stack: string[] = []
  const cycles: string[][] = []
  const visit = (node: string): void => {
    index.set(node, index.size)
    low.set(node, index.get(node)!)
    stack.push(node)
    for (const other of next.get(node) ?? []) {
      if (!index.has(other)) visit(other)
      if (stack.includes(other)) low.set(node, Math.min(low.get(node)!, low.get(other)!))
    }
    if (low.get(node) !== index.get(node)) return
    const group = stack.splice(stack.indexOf(node))
    if (group.length > 1) cycles.push(group.sort())
  }
  for (const node of next.keys()) if (!index.has(node)) visit(node)
  return cycles
}

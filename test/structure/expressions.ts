import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type Token, tokenizer } from 'acorn'
import { transformSync } from 'esbuild'
import { check } from 'recheck'
import { filesOf, read } from '#test/docs/checkout'

/*
 * The regular expressions of the product, and whether an input exists on which one of them needs
 * more than linear time.
 */

/** A regular expression as it is written: `/a+b/u`. */
export type Expression = string

/** What may take longer, because its input is short. Each group has the reason. */
interface Reviewed {
  /** Literals by reason. */
  literals: Record<string, Expression[]>
  /** Files whose expressions are composed of phrases, with the reason. */
  files: Record<string, string>
}
export const reviewed: Reviewed = JSON.parse(read('test/structure/expressions.json'))
export const reviewedLiterals: ReadonlySet<Expression> = new Set(
  Object.values(reviewed.literals).flat(),
)

/** Commits. The long test alone checks an expression that was there this many commits ago. */
const LATELY = 50
/** Expressions that are checked at a time. */
const AT_ONCE = 2

const product = (): string[] =>
  filesOf().filter(
    file => /\.(?:tsx?|mjs)$/.test(file) && !/^(?:test|bench)\/|\.test\.ts$|\.d\.ts$/.test(file),
  )

/** The literals of a file. Types and JSX are removed first. */
function literalsOf(file: string, text: string): Expression[] {
  const { code } = transformSync(text, {
    loader: file.endsWith('.tsx') ? 'tsx' : 'ts',
    target: 'esnext',
  })
  const found: Expression[] = []
  const onToken = (token: Token & { value?: { pattern: string; flags: string } }) => {
    if (token.type.label === 'regexp') found.push(`/${token.value?.pattern}/${token.value?.flags}`)
  }
  for (const token of tokenizer(code, { ecmaVersion: 'latest', sourceType: 'module' }))
    onToken(token)
  return found
}

/** All literals of the product. */
export const allLiterals = (): Set<Expression> =>
  new Set(product().flatMap(file => literalsOf(file, read(file))))

/** The literals that the last commits, and what is not committed yet, have added. */
export function lateLiterals(): Expression[] {
  const base = git('rev-list', '--max-count=1', `--skip=${LATELY}`, 'HEAD').trim()
  const all = [...allLiterals()]
  // A shallow clone has no such commit: then all are checked.
  if (base === '') return all
  const changes = git('diff', '--unified=0', '--no-renames', base, '--', '*.ts', '*.tsx', '*.mjs')
  const lines = (sign: string) =>
    changes
      .split('\n')
      .filter(line => line.startsWith(sign))
      .join('\n')
  const added = lines('+')
  const removed = lines('-')
  return all.filter(literal => added.includes(literal) && !removed.includes(literal))
}

const ROOT = join(import.meta.dirname, '../..')
const git = (...words: string[]): string =>
  execFileSync('git', words, { cwd: ROOT, encoding: 'utf8', maxBuffer: 64 * 1024 ** 2 })

/** The expressions that the product's files compose of parts when they are loaded, and the file. */
export async function builtAtStart(): Promise<Map<Expression, string>> {
  const built = new Map<Expression, string>()
  const native = RegExp
  globalThis.RegExp = new Proxy(native, {
    construct(target, words) {
      const [pattern, flags]: (string | undefined)[] = words
      const made = new target(pattern ?? '', flags)
      const maker = new Error().stack?.split('\n')[2] ?? ''
      const [, file] = maker.split(`${ROOT}/`)
      if (file !== undefined && !file.startsWith('node_modules'))
        built.set(String(made), file.split(':')[0] ?? '')
      return made
    },
  })
  const files = product().filter(
    file =>
      /^(?:services|search|shared|status)\//.test(file) &&
      !/(?:main|worker|-worker)\.ts$/.test(file) &&
      /new RegExp\(/.test(read(file)),
  )
  for (const file of files) await import(pathToFileURL(join(ROOT, file)).href)
  globalThis.RegExp = native
  return built
}

/**
 * What the checker says of some expressions: those with an attack, and those it cannot judge.
 *
 * @param limit ms for one expression; the checker tries attacks for as long as it may
 */
export async function judge(
  expressions: Iterable<Expression>,
  limit: number,
): Promise<{ attacked: Map<Expression, string>; unknown: Expression[] }> {
  const attacked = new Map<Expression, string>()
  const unknown: Expression[] = []
  const left = [...expressions].values()
  const lane = async () => {
    for (const expression of left) {
      const end = expression.lastIndexOf('/')
      const said = await check(expression.slice(1, end), expression.slice(end + 1), {
        timeout: limit,
      })
      if (said.status === 'vulnerable')
        attacked.set(expression, `${said.complexity.summary}, ${said.attack.pattern.slice(0, 200)}`)
      else if (said.status === 'unknown') unknown.push(expression)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, lane))
  return { attacked, unknown }
}

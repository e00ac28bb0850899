import { execFileSync, fork } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { availableParallelism, setPriority } from 'node:os'
import * as babel from 'prettier/plugins/babel'
import { runCommand, UsageError } from '#shared/process/command'

/*
 * `npm run mutate` shows whether the tests notice changes. It changes one thing of a pure file,
 * runs its tests, and prints the changes that they did not notice. No file is written: a hook gives
 * Node the changed text instead of the file (`mutant.ts`). One process tries many changes. A
 * change counts as noticed when a test fails and passes again without the change in the same
 * process, when it also fails in a new process, or when it takes too long.
 *
 * `mutants.json` lists the files that are tried, and their survivors, each with its reason. The
 * list may only shrink. The exit code is 1 for a survivor that is not listed, and for a listed one
 * that a test notices. `tests` names the tests of a file besides the one that stands beside it.
 *
 * A change is another number or boolean, another comparison, a statement or one of two conditions
 * that is gone, a condition that always holds, a lost `await`, or two arguments that are swapped.
 * StrykerJS 10 was tried: it has the conditions, but neither `await` nor arguments.
 *
 * Some changes are left out, because no quick test can notice them: functions that query a
 * database, lines of the log, and the 1 of `a < b ? -1 : 1`, because sorting only checks for
 * numbers below 0.
 */
const KNOWN = new URL('mutants.json', import.meta.url)
const JOBS = Math.min(2, availableParallelism())
/** Modules of earlier changes stay in memory, so a process tries only this many. */
const CHANGES_OF_A_PROCESS = 50
/** A change may make a test run for ever. */
const LONGEST_MS = 60_000
/** Changes that are not begun within this time count as not tried. */
const LONGEST_RUN_MS = 60 * 60_000
/** The same for `--since`, which CI runs. */
const LONGEST_SINCE_MS = 5 * 60_000

const SWAPS: Record<string, string> = {
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '===': '!==',
  '!==': '===',
}
const DROPPED = /^(?:Expression|If|Throw|Break|Continue|While|For|ForOf)Statement$/

const testsOf = (file: string, { tests = '' }: Record<string, string> = {}) =>
  [file.replace(/\.ts$/, '.test.ts'), ...tests.split(' ')].filter(path => existsSync(path))

interface Mutant {
  line: number
  /** The changed line, which identifies the change in `mutants.json`. */
  text: string
  source: string
}

await runCommand(
  {
    name: 'mutate',
    about:
      'Changes pure files one thing at a time, and names the changes that their tests do not see.',
    usage: ['[--file PATH … | --since COMMIT]'],
    options: {
      since: {
        value: 'COMMIT',
        about:
          'only lines of files in mutants.json that changed since then, the newest first; five minutes',
      },
      file: {
        multiple: true,
        value: 'PATH',
        about: 'only this file; listed in mutants.json or not',
      },
    },
  },
  async ({ options, print, say, signal }) => {
    setPriority(10)
    const { since, file: named } = options
    const until = Date.now() + (since === undefined ? LONGEST_RUN_MS : LONGEST_SINCE_MS)
    const known: Record<string, Record<string, string>> = JSON.parse(readFileSync(KNOWN, 'utf8'))
    const changed = typeof since === 'string' ? changedSince(since) : undefined
    if (changed === null) {
      print(`There is no commit ${since} here, so nothing was tried.`)
      return 0
    }
    const listed = changed ? [...changed.keys()].filter(file => file in known) : Object.keys(known)
    const files = Array.isArray(named) ? named : listed
    for (const file of files) {
      if (!file.endsWith('.ts') || !existsSync(file) || testsOf(file, known[file]).length === 0)
        throw new UsageError(`${file} is no file with a test; name one, relative to the checkout.`)
    }
    const results: TriedFile[] = []
    for (const [at, file] of files.entries()) {
      const lines = changed?.get(file)
      const result = await tryFile(file, known[file] ?? {}, { until, lines, signal })
      results.push(result)
      const { mutants, tried, seen, survivors, stale, seconds } = result
      say(
        `[${at + 1}/${files.length}] ${file}: ${seen} of ${tried} seen, ${mutants - tried} not tried, ${seconds} s`,
      )
      for (const { line, text } of survivors) print(`${file}:${line} survived: ${text}`)
      for (const text of stale)
        print(`${file}: take this out of mutants.json, it is seen or gone: ${text}`)
    }
    const sum = (of: 'tried' | 'seen' | 'excused') =>
      results.reduce((all, result) => all + result[of], 0)
    const score =
      Math.round((1_000 * sum('seen')) / Math.max(1, sum('tried') - sum('excused'))) / 10
    print(
      `${score} %: ${sum('seen')} of ${sum('tried')} seen, ${sum('excused')} excused by mutants.json.`,
    )
    const isWrong = results.some(({ survivors, stale }) => survivors.length + stale.length > 0)
    return isWrong ? 1 : 0
  },
)

/**
 * The lines that were added or changed since a commit, by file, the newest change first. null: no
 * such commit, as in a shallow clone.
 */
function changedSince(commit: string): Map<string, Set<number>> | null {
  const git = (...words: string[]) => execFileSync('git', words, { encoding: 'utf8' }).split('\n')
  try {
    git('rev-parse', '--verify', '--quiet', '--end-of-options', `${commit}^{commit}`)
  } catch {
    return null
  }
  const files = [
    ...git('diff', '--name-only', 'HEAD'),
    ...git('log', '--format=', '--name-only', `${commit}..HEAD`),
  ].filter(file => file.endsWith('.ts') && existsSync(file))
  const linesOf = (file: string) =>
    git('diff', '--unified=0', commit, '--', file).flatMap(line => {
      const [, first, count = '1'] = /^@@ -\S+ \+(\d+)(?:,(\d+))?/.exec(line) ?? []
      return Array.from({ length: first ? Number(count) : 0 }, (_, at) => Number(first) + at)
    })
  return new Map(files.map(file => [file, new Set(linesOf(file))]))
}

/** What became of the changes of a file. */
interface TriedFile {
  file: string
  mutants: number
  tried: number
  seen: number
  excused: number
  survivors: Mutant[]
  /** Listed changes that the test notices or that are gone. */
  stale: string[]
  seconds: number
}

/**
 * Tries the changes of a file.
 *
 * @param options.until when it ends
 * @param options.lines the lines that are changed; absent: all
 */
async function tryFile(
  file: string,
  known: Record<string, string>,
  options: { until: number; lines: ReadonlySet<number> | undefined; signal: AbortSignal },
): Promise<TriedFile> {
  const { until, lines, signal } = options
  const source = readFileSync(file, 'utf8')
  const all = mutantsOf(source)
  const mutants = all.filter(({ line }) => lines?.has(line) ?? true)
  const began = Date.now()
  const start = () => startRunner(file, testsOf(file, known), signal)
  // A file of which only imports or comments changed has nothing to try.
  const isIdle = mutants.length === 0 || began >= until
  const timeWithout = async () => {
    const first = start()
    const passes = await first.passes(source, LONGEST_MS)
    first.end()
    if (!passes) throw new Error(`The tests of ${file} fail without any change; mend them first.`)
    return Date.now() - began
  }
  const within = Math.min(LONGEST_MS, 3_000 + 4 * (isIdle ? 0 : await timeWithout()))
  const survived: Mutant[] = []
  const waiting = [...mutants]
  const work = async () => {
    let runner = start()
    for (let n = 1; waiting.length > 0 && Date.now() < until && !signal.aborted; n++) {
      const mutant = waiting.shift()!
      let passed = await runner.passes(mutant.source, within)
      // A listed survivor may have failed by chance, or on a busy machine.
      const isDoubtful = !passed && mutant.text in known
      if (
        n % CHANGES_OF_A_PROCESS === 0 ||
        isDoubtful ||
        !(passed || (await runner.passes(source, within)))
      ) {
        runner.end()
        runner = start()
        if (passed === false || isDoubtful) passed = await runner.passes(mutant.source, within)
      }
      if (passed) survived.push(mutant)
    }
    runner.end()
  }
  if (!isIdle) await Promise.all(Array.from({ length: JOBS }, work))
  signal.throwIfAborted()
  const tried = mutants.length - waiting.length
  const unseen = survived.filter(({ text }) => !(text in known)).sort((a, b) => a.line - b.line)
  const left = new Set([...survived, ...waiting].map(({ text }) => text))
  const texts = new Set(all.map(({ text }) => text))
  const stale = Object.keys(known).filter(
    text => text !== 'tests' && !left.has(text) && (lines === undefined || !texts.has(text)),
  )
  const counts = { mutants: mutants.length, tried, seen: tried - survived.length }
  const seconds = Math.round((Date.now() - began) / 1_000)
  return {
    file,
    ...counts,
    excused: survived.length - unseen.length,
    survivors: unseen,
    stale,
    seconds,
  }
}

/** A process that tries changes of a file, until one of them ends it or takes too long. */
function startRunner(file: string, tests: string[], signal: AbortSignal) {
  // The compile cache would keep changed files in the place of those that others load.
  const env = { ...process.env, NODE_COMPILE_CACHE: undefined }
  const options = { env, silent: true, signal, killSignal: 'SIGKILL' } as const
  const child = fork(new URL('mutant.ts', import.meta.url), [file, ...tests], options)
  let answer = (_passed: boolean) => {}
  child.on('error', () => {}).on('exit', () => answer(false))
  child.on('message', passed => typeof passed === 'boolean' && answer(passed))
  for (const output of [child.stdout, child.stderr]) output?.resume()
  const end = () => child.kill('SIGKILL')
  /** Whether the test passes when the file has the text `source`; null: no result in time. */
  const passes = (source: string, within: number) =>
    new Promise<boolean | null>(resolve => {
      const late = setTimeout(() => resolve(end() ? null : false), within)
      answer = passed => resolve(passed) ?? clearTimeout(late)
      child.send(source, error => error && answer(false))
    })
  return { end, passes }
}

type Node = Record<string, unknown> & { type: string; start: number; end: number }

function isNode(value: unknown): value is Node {
  return (
    typeof value === 'object' &&
    value !== null &&
    'type' in value &&
    'start' in value &&
    'end' in value
  )
}

/** The nodes below a node, without types and without nodes that are left out. */
function* nodesOf(value: unknown, source: string): Generator<Node> {
  if (Array.isArray(value)) for (const one of value) yield* nodesOf(one, source)
  if (!isNode(value) || isLeftOut(value, source.slice(value.start, value.end))) return
  const isType = value.type.startsWith('TS')
  if (!isType) yield value
  for (const child of isType ? [value.expression] : Object.values(value))
    yield* nodesOf(child, source)
}

function isLeftOut({ type, async }: Node, text: string): boolean {
  if (type === 'ExpressionStatement')
    return /^(?:await )?(?:[\w.]+\.)?log(?:ger)?\.(?:debug|info|warn|error)\(/.test(text)
  return async === true && /\.query[(<]|\b(?:read(?:Row|Value|Column)|countOf)\b/.test(text)
}

/** All texts that differ from `source` in one thing. */
function mutantsOf(source: string): Mutant[] {
  const { program } = Object(babel).parsers['babel-ts'].parse(source, {})
  return [...nodesOf(program, source)].flatMap(node =>
    changesOf(node, source).map(([start, end, by]) => {
      const line = source.slice(0, start).split('\n').length
      const mutated = `${source.slice(0, start)}${by}${source.slice(end)}`
      const lineOf = (text: string) => text.split('\n')[line - 1]!.trim()
      const was = lineOf(source)
      const is = lineOf(mutated)
      const text = by === ';' && source.startsWith(was, start) ? `without: ${was}` : is
      return { line, text, source: mutated }
    }),
  )
}

/** A range that is replaced, and the new text. */
type Change = readonly [start: number, end: number, by: string]

/** The changes of a node. */
function changesOf(node: Node, source: string): Change[] {
  const { type, start, end, value, argument } = node
  if (type === 'NumericLiteral') {
    if (source.slice(start - 7, start) === '? -1 : ') return []
    return [[start, end, value === 0 ? '1' : value === 1 ? '0' : String(2 * Number(value))]]
  }
  if (type === 'BooleanLiteral') return [[start, end, String(value !== true)]]
  if (type === 'AwaitExpression' && isNode(argument)) return [[start, argument.start, '']]
  if (type === 'CallExpression' || type === 'NewExpression') return swappedArguments(node, source)
  if (isNode(node.left) && isNode(node.right)) return changesOfPair(node, node.left, node.right)
  return [...(DROPPED.test(type) ? [[start, end, ';'] as const] : []), ...changesOfTest(node)]

  function changesOfPair({ operator }: Node, left: Node, right: Node): Change[] {
    // Each of two conditions alone. This also shows what `||` in place of `&&` would show.
    if (operator === '&&' || operator === '||')
      return [left, right].map(one => [start, end, source.slice(one.start, one.end)])
    const swapped = SWAPS[String(operator)]
    if (swapped === undefined) return []
    const at = source.indexOf(String(operator), left.end)
    return [[at, at + String(operator).length, swapped]]
  }
}

/** A condition that is no comparison holds always. For `if`, never is the dropped statement. */
function changesOfTest({ type, test }: Node): Change[] {
  if (!isNode(test) || test.operator !== undefined) return []
  const always: Change = [test.start, test.end, 'true']
  if (type === 'IfStatement') return [always]
  return type === 'ConditionalExpression' ? [always, [test.start, test.end, 'false']] : []
}

/** The first two arguments of a call in the other order, unless that is the same or nonsense. */
function swappedArguments(call: Node, source: string): Change[] {
  const [first, second] = [call.arguments].flat().filter(isNode)
  if (first === undefined || second === undefined) return []
  const callee = isNode(call.callee) ? source.slice(call.callee.start, call.callee.end) : ''
  const isPlain = (one: Node) => !/^(?:Spread|Arrow|Function|Object)/.test(one.type)
  if (!isPlain(first) || !isPlain(second) || /^Math\.m(?:in|ax)$/.test(callee)) return []
  const between = source.slice(first.end, second.start)
  const swapped = `${source.slice(second.start, second.end)}${between}${source.slice(first.start, first.end)}`
  return swapped === source.slice(first.start, second.end)
    ? []
    : [[first.start, second.end, swapped]]
}

import { readdirSync, readFileSync } from 'node:fs'
import { basename, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** Folders of others' files or of generated ones. Hidden folders are left out too. */
const FOREIGN = new Set(['node_modules'])
/** Texts of the sample outlets and expected outputs are data. */
const DATA = /^(infra\/outlets\/sample|test\/golden)\//

/** All files of this checkout, relative to its root. */
export function filesOf(folder: string = ROOT): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap(entry => {
    const path = join(folder, entry.name)
    if (entry.isDirectory())
      return entry.name.startsWith('.') || FOREIGN.has(entry.name) ? [] : filesOf(path)
    return [relative(ROOT, path)]
  })
}

export const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8')

interface Line {
  number: number
  text: string
}

const isMarkdown = (file: string) => file.endsWith('.md') && !DATA.test(file)

export const documents = (): string[] => filesOf().filter(isMarkdown)

/** The start of a comment's line, in the languages of this repository. */
const COMMENTS: Record<string, RegExp> = {
  ts: /^\s*(\/\/|\/\*|\*)/,
  tsx: /^\s*(\/\/|\/\*|\*)/,
  mjs: /^\s*(\/\/|\/\*|\*)/,
  sql: /^\s*--/,
  py: /^\s*#/,
  yml: /^\s*#/,
  Dockerfile: /^\s*#/,
}

const commentOf = (file: string): RegExp | undefined =>
  DATA.test(file) ? undefined : COMMENTS[basename(file).split('.').at(-1) ?? '']

export const programs = (): string[] => filesOf().filter(file => commentOf(file) !== undefined)

/** Lines of a program that hold a comment and nothing else. */
export function commentLines(file: string): Line[] {
  const comment = commentOf(file)
  return comment === undefined ? [] : linesOf(read(file)).filter(({ text }) => comment.test(text))
}

/** A comment after code. */
const BEHIND_CODE = / (?:\/\/|--|#) (.*)$/

/** All comments of a program, those after code too. */
export function comments(file: string): string {
  const comment = commentOf(file)
  if (comment === undefined) return ''
  return linesOf(read(file))
    .map(({ text }) => (comment.test(text) ? text : (BEHIND_CODE.exec(text)?.[1] ?? '')))
    .join('\n')
}

export function withoutComments(file: string): string {
  const comment = commentOf(file)
  return linesOf(read(file))
    .map(({ text }) => (comment?.test(text) ? '' : text.replace(BEHIND_CODE, '')))
    .join('\n')
}

const linesOf = (text: string): Line[] =>
  text.split('\n').map((line, index) => ({ number: index + 1, text: line }))

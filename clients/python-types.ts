/*
 * Makes the types of the Python client from those of the TypeScript client, so that `contract.ts`
 * alone says what the API takes and returns. Of TypeScript it reads what is used there: lists of
 * texts, and interfaces.
 */

const HEAD = `"""What the API takes and returns. Fields may be added within /v1."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime
from typing import Literal, TypedDict
`

/** A comment, or nothing. */
const ABOUT = String.raw`(?:/\*\*((?:(?!\*/)[^])*)\*/\s+)?`
/** An exported type: its name, what it extends, and its members or its texts. */
const TYPE = new RegExp(
  String.raw`^${ABOUT}export \w+ (\w+)(?:\s+extends ([\w, ]+))? (?:\{\}|\{([^]*?)^\}|=([^]*?)\n(?=\n|export))`,
  'gm',
)
const MEMBER = new RegExp(String.raw`^ {2}${ABOUT}(\w+)(\??):([^]*?)(?=\n {2}\S|\n$)`, 'gm')

/** The source of the module `_contract`, from that of `contract.ts`. */
export const pythonTypes = (source: string): string =>
  [...source.matchAll(TYPE)].reduce(
    (types, [, about = '', name = '', bases = '', members = '', texts]) =>
      `${types}\n\n${texts === undefined ? classesOf(name, bases, about, members) : `${name} = ${typeOf(texts)}\n`}`,
    HEAD,
  )

/**
 * A class for the members that are always there, and one for the others: Python 3.10 cannot mark
 * single ones. `from` is a word of Python, and needs another notation.
 */
function classesOf(name: string, bases: string, about: string, members: string): string {
  const all = [...members.matchAll(MEMBER)].map(([, about = '', field = '', mark, type = '']) => ({
    field,
    type: typeOf(type),
    isOptional: mark === '?',
    lines: [`${field}: ${typeOf(type)}`, textOf(about)],
  }))
  if (all.some(({ field }) => field === 'from')) {
    const types = all.map(({ field, type }) => `"${field}": ${type}`)
    return `${name} = TypedDict("${name}", {${types.join(', ')}}, total=False)\n`
  }
  const classOf = (head: string, about: string, isOptional: boolean) => {
    const own = all.filter(one => one.isOptional === isOptional).flatMap(({ lines }) => lines)
    const body = [textOf(about), ...own].filter(Boolean).join('\n    ')
    return `class ${head}:\n    ${body || 'pass'}\n`
  }
  return [
    classOf(`_${name}(TypedDict)`, '', false),
    classOf(`${name}(_${name}, ${bases && `${bases}, `}total=False)`, about, true),
  ].join('\n\n')
}

const NAMES: Record<string, string> = {
  string: 'str',
  number: 'int',
  Fraction: 'float',
  boolean: 'bool',
  true: 'Literal[True]',
  null: 'None',
  Date: 'date | datetime',
}

const partsOf = (union: string): string[] => union.split('|').map(part => part.trim())

const typeOf = (type: string): string =>
  type
    .replace(/^[\s|]+| \| undefined$/g, '')
    .replace(/'\w+'(?:\s+\| '\w+')*/g, texts => `Literal[${partsOf(texts).join(', ')}]`)
    .replace(/readonly (\w+)\[\]/g, 'Sequence[$1]')
    .replace(/\b(\w+)\[\]/g, 'list[$1]')
    .replace(/Record<([^<>]{1,200})>/, 'dict[$1]')
    .replace(/(?<!')\b\w+/g, word => NAMES[word] ?? word)

/** A comment as Python's text below a class or a field. */
function textOf(about: string): string {
  const text = about.replace(/\s+(?:\* )?/g, ' ').replace(/\bnull\b/gi, 'None')
  return text === '' ? '' : `"""${text.trim()}"""`
}

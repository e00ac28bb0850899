import { createHmac, type KeyObject, timingSafeEqual } from 'node:crypto'
import type { Position } from '#search/index'
import type { SemanticPosition } from '#services/api/semantic/query'
import type { HistoryStart, Plan } from '#shared/plans/keys'
import { LIMITS } from './parameters.ts'
import { type ArticlesRequest, type Spelling, type Spellings, spellingsOf } from './request.ts'

/** The place after which a page begins, and the history start of its sequence of pages. */
export interface Cursor {
  at: ({ kind: 'words' } & Position) | ({ kind: 'semantic' } & SemanticPosition)
  /**
   * The history start with which the sequence began (decision 13). A rolling start moves on at
   * midnight, but the sequence keeps its own.
   */
  historyStart: Date
}

/** The secret for tags. HMAC is much faster with a `KeyObject` than with its bytes. */
export type CursorSecret = KeyObject | Buffer

/*
 * A cursor is base64url of
 *
 *   version          1 byte
 *   tag             16 bytes   HMAC-SHA256, cut to 128 bits, of binding, version and content
 *   content
 *     flags          1 byte
 *     history start  6 bytes   ms since 1970, signed
 *     sort value     6 bytes   signed
 *     words:    score 8 bytes (double), watermark 8, total 2; flagged: last removal 4
 *     semantic: set 12 bytes
 *     id             the rest, UTF-8
 *
 * Binary, because an imported id may have 128 bytes and all of it has to fit into 255 characters.
 */
const VERSION = 1
const TAG_BYTES = 16
const HEAD_BYTES = { words: 31, semantic: 25 } as const
const REMOVALS_BYTES = 4
const FLAGS = { semantic: 1, nullValue: 2, estimate: 4, removals: 8 } as const

/**
 * Writes a cursor. Its tag covers `binding`, so the cursor is valid for one request only. The
 * cursor does not contain the binding or the query. It depends on no clock and no random number, so
 * equal pages have equal cursors in every process (decision 21).
 * @param binding see `bindingFor`
 * @throws when the id has more than 139 bytes; `import` lets in 128
 */
export function writeCursor(secret: CursorSecret, binding: string, cursor: Cursor): string {
  const text = signed(secret, binding, writeContent(cursor))
  if (text.length > LIMITS.cursor)
    throw new Error(`The article id "${cursor.at.last.id}" is too long for a cursor.`)
  return text
}

/** Reads a cursor; null when the text is forged, cut, of another request, or no cursor of ours. */
export function readCursor(secret: CursorSecret, binding: string, text: string): Cursor | null {
  const content = opened(secret, binding, text)
  return content && readContent(content)
}

/**
 * Writes content as a text that only an owner of the secret can make. The text is valid for one
 * binding only.
 */
export function signed(secret: CursorSecret, binding: string, content: Buffer): string {
  return Buffer.concat([Buffer.of(VERSION), tag(secret, binding, content), content]).toString(
    'base64url',
  )
}

/**
 * The content of a text that `signed` has made. Null when the text is forged, cut, or of another
 * binding.
 */
export function opened(secret: CursorSecret, binding: string, text: string): Buffer | null {
  const bytes = Buffer.from(text, 'base64url')
  // Node's decoder skips characters that are not base64url. But a cursor has one spelling only.
  if (bytes.toString('base64url') !== text || bytes.length <= 1 + TAG_BYTES || bytes[0] !== VERSION)
    return null
  const content = bytes.subarray(1 + TAG_BYTES)
  return timingSafeEqual(bytes.subarray(1, 1 + TAG_BYTES), tag(secret, binding, content))
    ? content
    : null
}

function tag(secret: CursorSecret, binding: string, content: Buffer): Buffer {
  // The length marks the end of the binding, so no other pair of binding and content gives these
  // bytes.
  const hmac = createHmac('sha256', secret).update(
    `${VERSION} ${Buffer.byteLength(binding)} ${binding}`,
  )
  return hmac.update(content).digest().subarray(0, TAG_BYTES)
}

function writeContent({ at, historyStart }: Cursor): Buffer {
  const removals = at.kind === 'words' ? (at.removals ?? 0) : 0
  const head = Buffer.alloc(HEAD_BYTES[at.kind] + (removals > 0 ? REMOVALS_BYTES : 0))
  const semantic = at.kind === 'semantic' ? FLAGS.semantic : 0
  const nullValue = at.last.value === null ? FLAGS.nullValue : 0
  const estimate = at.kind === 'words' && at.estimate ? FLAGS.estimate : 0
  head.writeUInt8(semantic | nullValue | estimate | (removals > 0 ? FLAGS.removals : 0), 0)
  head.writeIntBE(historyStart.getTime(), 1, 6)
  head.writeIntBE(at.last.value ?? 0, 7, 6)
  if (at.kind === 'words') {
    head.writeDoubleBE(at.last.score, 13)
    head.writeBigUInt64BE(at.watermark, 21)
    head.writeUInt16BE(at.total, 29)
    if (removals > 0) head.writeUInt32BE(removals, HEAD_BYTES.words)
  } else {
    head.write(at.setId, 13, 'base64url')
  }
  return Buffer.concat([head, Buffer.from(at.last.id)])
}

/** The inverse of `writeContent`. The tag has shown that we wrote these bytes. */
function readContent(content: Buffer): Cursor {
  const flags = content.readUInt8(0)
  const kind = flags & FLAGS.semantic ? 'semantic' : 'words'
  const historyStart = new Date(content.readIntBE(1, 6))
  const value = flags & FLAGS.nullValue ? null : content.readIntBE(7, 6)
  const hasRemovals = (flags & FLAGS.removals) !== 0
  const id = content.toString('utf8', HEAD_BYTES[kind] + (hasRemovals ? REMOVALS_BYTES : 0))
  if (kind === 'semantic') {
    const setId = content.toString('base64url', 13, HEAD_BYTES.semantic)
    return { historyStart, at: { kind, setId, last: { value, id } } }
  }
  return {
    historyStart,
    at: {
      kind,
      watermark: content.readBigUInt64BE(21),
      total: content.readUInt16BE(29),
      estimate: (flags & FLAGS.estimate) !== 0,
      ...(hasRemovals && { removals: content.readUInt32BE(HEAD_BYTES.words) }),
      last: { value, score: content.readDoubleBE(13), id },
    },
  }
}

/**
 * A cursor is bound to these parameters by their places in this list. The list must not change,
 * because cursors that clients hold would become invalid. A parameter that was added later is bound
 * by its name, and only in requests that give it, so older cursors stay valid.
 */
const BY_PLACE = [
  'search',
  'q',
  'search_in',
  'sort',
  'order',
  'per_page',
  'country',
  'language',
  'has_author',
  'outlet',
  'author',
  'published_after',
  'published_before',
  'ingested_after',
] as const satisfies (keyof Spellings)[]

/**
 * Everything that a cursor is bound to (decision 21): all other parameters, and the definition of
 * the plan's reach. Requests that mean the same have the same binding. It does not name the
 * operation, because only the JSON operation has cursors.
 */
export const bindingOf = (request: ArticlesRequest, plan: Plan): string =>
  bindingFor(spellingsOf(request), plan)

/**
 * Makes the binding from the spellings of a request. Parameters that are not in `BY_PLACE` may be
 * among them.
 */
export function bindingFor(spellings: Spellings & Record<string, Spelling>, plan: Plan): string {
  const placed = new Set<string>(BY_PLACE)
  const later = Object.entries(spellings)
    .filter(([name, { bound }]) => !placed.has(name) && bound !== null)
    .map(([name, { bound }]): [string, unknown] => [name, bound])
    .sort(([a], [b]) => (a < b ? -1 : 1))
  const bound = BY_PLACE.map(name => spellings[name].bound)
  const reach = [[...plan.countries].sort(), definitionOf(plan.history)]
  return JSON.stringify(['articles', ...bound, ...reach, ...later])
}

const definitionOf = (history: HistoryStart) =>
  history.kind === 'fixed' ? history.at.getTime() : `${history.days}d`

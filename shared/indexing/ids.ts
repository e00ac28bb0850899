import { hash } from 'node:crypto'
import type { ArticleOutlet } from '../articles/article.ts'

/** The identity of an outlet: its domain, or its name when an archive has no domain. */
export function outletKey(outlet: ArticleOutlet): string {
  if (outlet.domain !== null) return outlet.domain.toLowerCase()
  return `name:${(outlet.name ?? '').normalize('NFC').trim().toLowerCase()}`
}

/**
 * The public id of an article at its first address; `salt` makes another id in the rare case that
 * the first is taken.
 */
export function articleId(outlet: string, address: string, salt = 0): string {
  return digest('a', outlet, address, salt === 0 ? '' : String(salt))
}

/** The public id of an author: the same for the same name at the same outlet (decision 35). */
export function authorId(outlet: string, name: string): string {
  return digest('p', outlet, name.normalize('NFC'), '')
}

const DIGITS = '0123456789abcdefghjkmnpqrstvwxyz'

/**
 * 24 characters of Crockford's base 32: 120 bits, safe in any address and in any case of letters.
 */
function digest(kind: string, ...parts: string[]): string {
  const bytes = hash('sha256', [kind, ...parts].join('\0'), 'buffer')
  let text = ''
  let held = 0
  let bits = 0
  for (let at = 0; at < 15; at++) {
    held = (held << 8) | bytes[at]!
    for (bits += 8; bits >= 5; ) {
      bits -= 5
      text += DIGITS[(held >>> bits) & 31]
    }
    held &= (1 << bits) - 1
  }
  return text
}

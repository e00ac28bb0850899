/** FNV-1a over UTF-16 code units, then murmur3's finish: 32 bits that are spread well enough to cut in two. */
export function hashOf(text: string): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  return finish(hash)
}

/** Of two neighbouring words, by their own hashes; their order counts. */
export function pairHash(first: number, second: number): number {
  return finish(Math.imul(first, 0x9e3779b1) ^ second)
}

function finish(hash: number): number {
  let mixed = hash ^ (hash >>> 16)
  mixed = Math.imul(mixed, 0x85ebca6b)
  mixed ^= mixed >>> 13
  mixed = Math.imul(mixed, 0xc2b2ae35)
  return (mixed ^ (mixed >>> 16)) >>> 0
}

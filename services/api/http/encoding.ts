/** A content coding in which answers are sent. */
export type Encoding = 'br' | 'gzip' | 'deflate'

/** Every coding with its place among codings that a client wants equally. */
const RANKS = { br: 0, gzip: 1, deflate: 2, identity: 2 } as const

/**
 * The coding that a client wants most by its `Accept-Encoding` (RFC 9110 §12.5.3); null: none.
 * Among equals br comes first, then gzip, then the order of the header: browsers name all alike.
 */
export function encodingFor(header: string | undefined): Encoding | null {
  if (header === undefined) return null
  const wanted = readWeights(header)
  let best: Candidate = { name: 'identity', weight: weightOf('identity', wanted) }
  for (const name of ['br', 'gzip', 'deflate'] as const) {
    const weight = weightOf(name, wanted)
    if (weight.q > 0 && isBefore({ name, weight }, best)) best = { name, weight }
  }
  return best.name === 'identity' ? null : best.name
}

interface Weight {
  q: number
  /** Place in the header. */
  at: number
}

type Candidate = { name: keyof typeof RANKS; weight: Weight }

function isBefore(a: Candidate, b: Candidate): boolean {
  if (a.weight.q !== b.weight.q) return a.weight.q > b.weight.q
  return RANKS[a.name] === RANKS[b.name] ? a.weight.at < b.weight.at : RANKS[a.name] < RANKS[b.name]
}

/** Codings that the header names, at most so many. */
const MOST = 32

function readWeights(header: string): Map<string, Weight> {
  const weights = new Map<string, Weight>()
  for (const [at, item] of header.split(',', MOST).entries()) {
    const [name = '', ...parameters] = item.split(';')
    const q = parameters.map(parameter => /^\s*q\s*=\s*(\d?\.?\d*)\s*$/i.exec(parameter)?.[1]).find(text => text)
    const coding = name.trim().toLowerCase()
    if (coding !== '' && !weights.has(coding)) weights.set(coding, { q: q === undefined ? 1 : Number(q), at })
  }
  return weights
}

function weightOf(name: keyof typeof RANKS, wanted: Map<string, Weight>): Weight {
  const weight = wanted.get(name) ?? wanted.get('*')
  if (weight !== undefined) return weight
  // Nobody needs to name the plain form: it is as good as the least of what is named.
  const least = Math.min(1, ...[...wanted.values()].map(({ q }) => q || 1))
  return { q: name === 'identity' ? least : 0, at: MOST }
}

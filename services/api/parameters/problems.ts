/** Too many would make a long answer to a short question. */
const MAX_PARAMETERS = 50

/** Mistakes in a request, by parameter: the `errors` object of a 422. */
export interface Problems {
  add(name: string, sentence: string): void
  has(name: string): boolean
  readonly any: boolean
  /** Own properties only, whatever a client calls its parameters (`__proto__` …). */
  toObject(): Record<string, string[]>
}

export function createProblems(): Problems {
  const byName = new Map<string, Set<string>>()
  return {
    add(name, sentence) {
      const sentences = byName.get(name)
      if (sentences) sentences.add(sentence)
      else if (byName.size < MAX_PARAMETERS) byName.set(name, new Set([sentence]))
    },
    has: name => byName.has(name),
    get any() {
      return byName.size > 0
    },
    toObject: () => Object.fromEntries([...byName].map(([name, sentences]) => [name, [...sentences]])),
  }
}

/**
 * A score for decoded text. Letters beyond ASCII raise it. Replacement and control characters,
 * signs or capitals inside words, and words of accented letters alone lower it. It can only compare
 * two decodings of the same bytes.
 */
export function legibility(text: string): number {
  const count = (pattern: RegExp) => text.match(pattern)?.join('').length ?? 0
  return (
    count(/(?![a-z])\p{L}/giu) -
    3 * count(/[\u00c0-\u024f]{4,}/g) -
    10 * count(/\ufffd/g) -
    10 * count(/(?!\s)\p{Cc}/gu) -
    5 * count(/(?<=\p{L})[¡-©«-´¶-¿×÷‰†‡•˜ˆ](?=\p{Ll})/gu) -
    2 * count(/(?<=\p{Ll})\p{Lu}(?=\p{Ll})/gu)
  )
}

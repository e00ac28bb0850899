/**
 * How much a text reads like one: letters beyond ASCII count for it; replacement and control
 * characters, signs or capitals in the middle of words, and words made of accented letters alone
 * count against it. Only good for comparing two decodings of the same bytes.
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

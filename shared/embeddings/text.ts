/**
 * A text as a model server can take it: without NUL (which cuts it short in C) and lone surrogates
 * (which are no UTF-8), white space collapsed, at most `max` UTF-16 units, cut between characters;
 * never empty, which some refuse.
 */
export function modelText(text: string, max: number): string {
  // Inference grows faster than its text: what is cut off anyway is not looked at.
  const clean = text
    .slice(0, max * 4)
    .replaceAll('\0', ' ')
    .toWellFormed()
    .replace(/\s+/g, ' ')
    .trim()
  if (clean.length <= max) return clean || '-'
  const cut = clean.slice(0, max)
  return (cut.isWellFormed() ? cut : cut.slice(0, -1)).trimEnd()
}

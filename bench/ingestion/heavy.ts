/**
 * Pages at the size limits. An outlet may serve one once a year, an attacker every minute.
 */

/** Texts of a megabyte and pages of ten, each an article with a title. */
export function heavyPages(prose: string[]): { url: string; title: string; html: string }[] {
  const title = 'Der lange Bericht der Kommission im Wortlaut'
  const page = (name: string, body: string) => ({
    url: `https://heavy.example/${name}`,
    title,
    html: `<!doctype html><html lang="de"><head><title>${title}</title></head><body><article><h1>${title}</h1>${body}</article></body></html>`,
  })
  const real = paragraphs(repeated(prose, 1_000_000))
  const words = prose.flatMap(paragraph => paragraph.split(' '))
  const rare = paragraphs(
    repeated(
      words.map((word, at) => (at % 2 === 0 ? word : `Wort${(at * 7_919).toString(36)}`)),
      1_000_000,
    ),
  )
  const article = paragraphs(repeated(prose, 20_000))
  return [
    page('real-words', real),
    page('rare-words', rare),
    page('one-word', paragraphs('und '.repeat(250_000))),
    page('markup', article + '<div class="teaser"><p>Mehr dazu</p></div>'.repeat(240_000)),
    page('nested', article + '<div>'.repeat(2_000_000)),
    page('script', `${article}<script>window.state=${JSON.stringify({ data: 'x'.repeat(10_000_000) })}</script>`),
    page('attributes', `${article}<p data-x="${'y'.repeat(10_000_000)}">Ende</p>`),
    page('entities', `${article}<p>${'f&uuml;r die Br&uuml;cke &amp; '.repeat(320_000)}</p>`),
  ]
}

function repeated(words: string[], length: number): string {
  const parts: string[] = []
  let total = 0
  for (let at = 0; total < length && words.length > 0; at += 1) {
    const word = words[at % words.length] ?? ''
    parts.push(word)
    total += word.length + 1
  }
  return parts.join(' ').slice(0, length)
}

/** Cut into paragraphs of some 600 characters. */
const paragraphs = (text: string) => text.replace(/(.{600}\S*)\s/gsu, '<p>$1</p>')

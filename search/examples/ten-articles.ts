/*
 * Indexes ten articles and searches them:
 *
 *     node search/examples/ten-articles.ts
 */

import { article, query, withEngine } from './opened.ts'

const TITLES = [
  'De brug over de Maas gaat open',
  'Een nieuwe brug voor fietsers',
  'Regen in het hele land',
  'De trein rijdt weer op tijd',
  'Storm op zee',
  'Bruggen in Luik worden hersteld',
  'Gemeente plant duizend bomen',
  'De Maas staat hoog',
  'Fietsers winnen het van auto’s',
  'Een rustige dag in Maastricht',
]

await withEngine(async ({ writer, index }) => {
  const results = await writer.write(TITLES.map((title, at) => article(at + 1, title)))
  console.log(
    `${results.filter(({ outcome }) => outcome === 'indexed').length} articles were indexed.`,
  )
  for (const q of ['brug', 'maas', 'fietsers brug']) {
    const { total, rows } = await index.search(query(q))
    console.log(`${q}: ${total} found`)
    for (const { title, publishedAt } of rows)
      console.log(`  ${publishedAt?.toISOString().slice(0, 10)} ${title}`)
  }
})

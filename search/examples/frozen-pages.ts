/*
 * Reads all pages of a search while new articles are written. All pages show the index as it was at
 * the first page:
 *
 *     node search/examples/frozen-pages.ts
 */

import type { Position } from '../index.ts'
import { article, query, withEngine } from './opened.ts'

await withEngine(async ({ writer, index }) => {
  let written = 0
  const write = async (count: number) => {
    await writer.write(
      Array.from({ length: count }, () => article(++written, `Bericht ${written}`)),
    )
  }
  await write(12)
  let position: Position | null = null
  do {
    const page = await index.search(query('bericht'), position)
    console.log(`${page.rows.map(row => row.title).join(', ')} (of ${page.total})`)
    position = page.next
    if (position !== null) await write(3)
  } while (position !== null)
  const { total } = await index.search(query('bericht'))
  console.log(`A new search finds ${total}.`)
})

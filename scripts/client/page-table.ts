import type { Article, Page } from '../../clients/typescript/src/index.ts'
import { printableLine } from '../../shared/log/printable.ts'

/**
 * A page for people: one line for each headline and one for its address, cut to the terminal's
 * width.
 */
export function pageTable(page: Page, width: number): string {
  const more = page.total_results_is_estimate ? ' or more' : ''
  const lines = page.articles.flatMap(article => [headline(article, width), `  ${printableLine(article.url)}`])
  return [...lines, `${page.articles.length} of ${page.total_results.toLocaleString('en')}${more}`].join('\n')
}

function headline(article: Article, width: number): string {
  const time = article.published_at?.slice(0, 16).replace('T', ' ') ?? '     no date    '
  const relevance = article.relevance === undefined ? '' : `${article.relevance.toFixed(4)}  `
  const outlet = article.outlet.name ?? article.outlet.domain ?? ''
  const words = printableLine(`${article.title}  (${outlet})`)
  return cut(`${time}  ${article.country} ${article.language}  ${relevance}${words}`, width)
}

/** Cut between characters as people see them, never within one. */
function cut(text: string, width: number): string {
  const characters = Array.from(new Intl.Segmenter().segment(text), ({ segment }) => segment)
  return characters.length <= width ? text : `${characters.slice(0, width - 1).join('')}…`
}

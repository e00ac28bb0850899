import { type Block, blocksOf } from '../markup/blocks.ts'
import { type Element, upwards } from '../markup/tree.ts'
import { isConsent, isFurniture, isHidden } from './furniture.ts'

/**
 * Removes elements from a tree that are certainly no part of the article. The text counts more than
 * a name: elements with much of the page's prose stay under any name, and so do elements with the
 * same name. `sidebar-grid`, for example, may be the layout of the article itself.
 */
export function prune(root: Element): void {
  remove(root, element => element.name !== 'html' && element.name !== 'body' && isConsent(element))
  const alike = aroundLikeShown(root)
  removeLight(root, element => isHidden(element) && !alike.has(element))
  removeLight(root, isFurniture)
}

/**
 * The elements around paragraphs that look like shown paragraphs. When they are hidden, they wait
 * behind "read more".
 */
function aroundLikeShown(root: Element): Set<Element> {
  const prose = blocksOf(root).filter(isProse)
  const names = new Set<string>()
  for (const { element } of prose) {
    if (element.attributes.class !== undefined && ![...upwards(element)].some(isHidden)) names.add(nameOf(element))
  }
  const around = new Set<Element>()
  for (const { element } of prose) {
    if (!names.has(nameOf(element))) continue
    for (const outer of upwards(element)) {
      if (around.has(outer)) break
      around.add(outer)
    }
  }
  return around
}

/** An element with this share of the page's prose is no furniture. */
const HEAVY = 0.4

function removeLight(root: Element, test: (element: Element) => boolean): void {
  const { total, byName } = weigh(root)
  remove(root, element => test(element) && (byName.get(nameOf(element)) ?? 0) < HEAVY * total)
}

/** Characters of prose in all elements of one tag and class. */
function weigh(root: Element): { total: number; byName: Map<string, number> } {
  const byName = new Map<string, number>()
  let total = 0
  for (const block of blocksOf(root)) {
    if (!isProse(block)) continue
    total += block.text.length
    const names = new Set([...upwards(block.element)].map(nameOf))
    for (const name of names) byName.set(name, (byName.get(name) ?? 0) + block.text.length)
  }
  return { total, byName }
}

const nameOf = ({ name, attributes }: Element) =>
  `${name} ${attributes.class ?? ''} ${attributes.class ? '' : (attributes.id ?? '')}`
const isProse = (block: Block) => block.text.length >= 40 && block.linked < 0.4 * block.text.length

function remove(root: Element, test: (element: Element) => boolean): void {
  root.children = root.children.filter(child => typeof child === 'string' || !test(child))
  for (const child of root.children) if (typeof child !== 'string') remove(child, test)
}

import { type Block, blocksOf } from '../markup/blocks.ts'
import { type Element, upwards } from '../markup/tree.ts'
import { isConsent, isFurniture, isHidden } from './furniture.ts'

/**
 * Takes out of a tree what is certainly no part of the article. A name never outweighs the text: elements that
 * hold a good part of the page's prose stay, however they are called, and so do those that share their name
 * (`sidebar-grid` may well be the layout of the article itself).
 */
export function prune(root: Element): void {
  remove(root, element => element.name !== 'html' && element.name !== 'body' && isConsent(element))
  const shown = namesOfShownProse(root)
  removeLight(root, element => isHidden(element) && !holds(element, shown))
  removeLight(root, isFurniture)
}

/** Tags and classes of paragraphs that are shown: hidden ones of the same make wait behind "read more". */
function namesOfShownProse(root: Element): Set<string> {
  const names = new Set<string>()
  for (const block of blocksOf(root)) {
    if (!isProse(block) || block.element.attributes.class === undefined) continue
    if (![...upwards(block.element)].some(isHidden)) names.add(nameOf(block.element))
  }
  return names
}

function holds(element: Element, names: ReadonlySet<string>): boolean {
  return blocksOf(element).some(block => isProse(block) && names.has(nameOf(block.element)))
}

/** Share of a page's prose with which an element is too heavy to be furniture. */
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

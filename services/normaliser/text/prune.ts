import { DomUtils } from 'htmlparser2'
import { allWords } from '#services/normaliser/languages/index'
import { type Block, blocksOf } from '#services/normaliser/markup/blocks'
import { fold } from '#services/normaliser/markup/plain'
import {
  type Element,
  isElement,
  isPlayer,
  label,
  upwards,
  walk,
} from '#services/normaliser/markup/tree'

/**
 * The outermost elements of a tree that are certainly no part of the article. Text counts more than
 * names: an element with much of the page's prose stays, even with a name of boilerplate, and so do
 * all elements with the same name. `sidebar-grid`, for example, may be the layout of the article
 * itself.
 */
export function prunedIn(
  root: Element,
  folded: ReadonlySet<Element> = foldedIn(root),
): ReadonlySet<Element> {
  const pruned = new Set<Element>()
  prune(
    root,
    pruned,
    element => element.name !== 'html' && element.name !== 'body' && isConsent(element),
  )
  const alike = aroundLikeShown(root, pruned)
  pruneLight(
    root,
    pruned,
    element => isHidden(element) && !alike.has(element) && !folded.has(element),
  )
  pruneLight(root, pruned, element => isBoilerplate(element) || isPlayerBox(element))
  for (const box of signUpsIn(root)) pruned.add(box)
  return pruned
}

/** The most forms of a page that are looked at, and the most characters of a box with a form. */
const FORMS = 20
const SIGN_UP = 300

/** The short boxes around forms that ask for an address: the letter of news that they offer. */
function signUpsIn(root: Element): Element[] {
  const fields: Element[] = []
  walk(root, element => {
    const { name, attribs } = element
    if (name !== 'input' || fields.length >= FORMS) return
    if (/mail/i.test(`${attribs.type} ${attribs.name} ${attribs.placeholder}`)) fields.push(element)
  })
  return fields.flatMap(field => {
    let box: Element | null = null
    for (const around of upwards(field)) {
      if (!BOXES.has(around.name) || holdsMore(around, SIGN_UP)) break
      box = around
    }
    return box ?? []
  })
}
const BOXES = new Set('input label fieldset form p div section aside'.split(' '))

/** Whether an element has a main heading, or more than this many characters of text. */
function holdsMore(element: Element, most: number): boolean {
  let left = most
  const measure = (node: Element['children'][number]) => {
    if (left < 0) return
    if (DomUtils.isText(node)) left -= node.data.trim().length
    else if (isElement(node)) {
      if (node.name === 'h1') left = -1
      node.children.forEach(measure)
    }
  }
  measure(element)
  return left < 0
}

/**
 * The elements around paragraphs that look like visible paragraphs. They may be hidden only until a
 * reader clicks "read more".
 */
function aroundLikeShown(root: Element, without: ReadonlySet<Element>): Set<Element> {
  const prose = blocksOf(root, { without }).filter(isProse)
  const names = new Set<string>()
  for (const { element } of prose) {
    if (element.attribs.class !== undefined && !upwards(element).some(isHidden))
      names.add(nameOf(element))
  }
  return aroundBlocks(prose.filter(({ element }) => names.has(nameOf(element))))
}

/** The elements around some blocks. */
function aroundBlocks(blocks: Block[]): Set<Element> {
  const around = new Set<Element>()
  for (const { element } of blocks)
    for (const outer of upwards(element)) {
      if (around.has(outer)) break
      around.add(outer)
    }
  return around
}

/** An element with at least this share of the page's prose is no boilerplate. */
const HEAVY = 0.4

function pruneLight(
  root: Element,
  pruned: Set<Element>,
  test: (element: Element) => boolean,
): void {
  const { total, byName } = weigh(root, pruned)
  prune(
    root,
    pruned,
    element => test(element) && (byName.get(weighedName(element)) ?? 0) < HEAVY * total,
  )
}

/** Hidden elements are weighed apart from those of the same name that readers see. */
const weighedName = (element: Element) => `${nameOf(element)}${isHidden(element) ? ' hidden' : ''}`

/** Characters of prose in all elements of one tag and class. */
function weigh(
  root: Element,
  without: ReadonlySet<Element>,
): { total: number; byName: Map<string, number> } {
  const byName = new Map<string, number>()
  let total = 0
  for (const block of blocksOf(root, { without })) {
    if (!isProse(block)) continue
    total += block.text.length
    const names = new Set(upwards(block.element).map(weighedName))
    for (const name of names) byName.set(name, (byName.get(name) ?? 0) + block.text.length)
  }
  return { total, byName }
}

const nameOf = ({ name, attribs }: Element) =>
  `${name} ${attribs.class ?? ''} ${attribs.class ? '' : (attribs.id ?? '')}`
const isProse = (block: Block) => block.text.length >= 40 && block.linked < 0.4 * block.text.length

function prune(root: Element, pruned: Set<Element>, test: (element: Element) => boolean): void {
  for (const child of root.children) {
    if (!isElement(child) || pruned.has(child)) continue
    if (test(child)) pruned.add(child)
    // Names of highlighted code, as `comment`, are those of its syntax.
    else if (child.name !== 'pre') prune(child, pruned, test)
  }
}

/** Names of consent dialogs, which are removed even when they fill most of the page. */
const CONSENT =
  /cookie-?(consent|banner|bar|notice|wall|law|policy|info|dialog|modal|popup)|cookielaw|onetrust|\bot-sdk|didomi|usercentrics|cookiebot|cybotcookie|\bgdpr|consent-?(banner|dialog|layer|manager|modal|popup)|sp_message|qc-cmp|fc-consent|truste|iubenda|borlabs|klaro/

/** In names of elements, `-` and `_` separate words. */
const BOILERPLATE = new RegExp(
  allWords(rules => rules.markup.boilerplate)
    .map(name => name.replace(/^\((.*)\)$/, '(?<![a-z0-9])(?:$1)(?![a-z0-9])'))
    .join('|'),
)
const ELEMENTS = new Set(
  'nav aside footer form figcaption dialog menu address fieldset time'.split(' '),
)
const ROLES =
  /^(navigation|banner|contentinfo|complementary|search|dialog|alertdialog|menu|tablist|toolbar)$/

export const isConsent = (element: Element): boolean => CONSENT.test(label(element))

/** Navigation, sharing, offers, captions, bylines and similar elements. */
export const isBoilerplate = (element: Element): boolean =>
  ELEMENTS.has(element.name) ||
  ROLES.test(element.attribs.role ?? '') ||
  BOILERPLATE.test(roleNames(element))

/** The most characters of the title and the note beside a video or a sound. */
const PLAYER_NOTE = 200

/** Whether an element contains only a player with its title and note. */
function isPlayerBox(element: Element): boolean {
  const inside = element.children.filter(isElement)
  const plays = inside.some(
    child => isPlayer(child) || child.children.some(one => isElement(one) && isPlayer(one)),
  )
  if (inside.some(child => child.name === 'h1')) return false
  return plays && element.name !== 'p' && DomUtils.innerText(element).trim().length <= PLAYER_NOTE
}

/**
 * The names of an element, without names of layout such as `has-sidebar` and `sidebar-grid`. If the
 * element's id repeats the words of its heading, the id names a subject, and is also left out.
 */
const roleNames = (element: Element) =>
  `${isSubject(element) ? label(withoutId(element)) : label(element)} ${spokenName(element)}`.replace(
    LAYOUT,
    ' ',
  )
/** The name that screen readers say for a section. A longer name is a headline. */
const spokenName = ({ name, attribs: { 'aria-label': spoken = '' } }: Element) =>
  (name === 'section' || name === 'div') && spoken.length <= 25
    ? spoken.toLowerCase().replace(/\s+/g, '-')
    : ''
const withoutId = ({ attribs }: Element) => ({ attribs: { ...attribs, id: '' } })

/**
 * Whether a section is about the subject that its id names, as in an article about comments. Its id
 * has the words of its heading. The section has sentences, no form and no links to other pages.
 */
export function isSubject(element: Element): boolean {
  const id = fold(element.attribs.id ?? '').split(' ')
  if (id[0] === '' || !BOILERPLATE.test(element.attribs.id!.toLowerCase())) return false
  const [heading, ...below] = blocksOf(element)
  if (heading === undefined || !upwards(heading.element).some(({ name }) => /^h[1-6]$/.test(name)))
    return false
  const title = fold(heading.text).split(' ')
  if (2 * id.filter(word => title.includes(word)).length <= Math.max(id.length, title.length))
    return false
  if (/^h[1-6]$/.test(element.name)) return true
  let asks = false
  walk(element, ({ name }) => {
    asks ||= name === 'form' || name === 'input'
  })
  const links = below.some(block => block.linked >= 0.8 * block.text.length)
  return !asks && !links && below.some(isProse) && !isLastOfComments(element)
}

/**
 * Whether an element has a name of comments, and no prose follows it. Readers' comments stand after
 * the article, so such an element contains them.
 */
function isLastOfComments(element: Element): boolean {
  if (!/comment|rea[ck]ti/i.test(element.attribs.id ?? '')) return false
  const siblings = element.parent?.children ?? []
  const later = siblings.slice(siblings.indexOf(element) + 1).filter(isElement)
  return !later.some(one => blocksOf(one).some(isProse))
}
const LAYOUT =
  /(?<!\S)((has|with|no|without|is|not|above|below|hide|show)[-_]\S+|\S*(layout|grid|columns?)\S*)/g

/** Whether only a script can show the element. */
export const isHidden = (element: Element): boolean =>
  'hidden' in element.attribs ||
  element.attribs['aria-hidden'] === 'true' ||
  isHiddenByStyle(element)

/**
 * The hidden parts of the text that readers unfold: a region or an answer below its heading, with
 * sentences. All are found at once, because they may stand in each other.
 */
export function foldedIn(root: Element): ReadonlySet<Element> {
  const named = new Set<Element>()
  walk(root, element => {
    if (isHidden(element) && (element.attribs.role === 'region' || FOLDED.test(label(element))))
      named.add(element)
  })
  if (named.size === 0) return named
  const long = blocksOf(root, { divided: named }).filter(
    block => isProse(block) && block.text.length >= FOLDED_PROSE,
  )
  const around = aroundBlocks(long)
  return new Set([...named].filter(element => around.has(element)))
}
const FOLDED = /faq|accord[ei]on/
const FOLDED_PROSE = 150

/** Names of elements whose text a paywall veils. The text is on the page, and often scrambled. */
const VEILED =
  /(?<![a-z])(?:text-transparent|blur(?:red)?|paragraph-hidden|scrambled|obfuscated|placeholder-text)(?![a-z])/

/** Whether the element is veiled, or only a script can show it. */
export const isVeiled = (element: Element): boolean =>
  isHidden(element) ||
  VEILED.test(label(element)) ||
  /filter\s*:\s*blur\(/i.test(element.attribs.style ?? '')

/**
 * Whether a style hides the element. Styles that clip it leave it to screen readers: "opens new
 * tab". AMP's own style hides offers, which it shows only to readers without access.
 */
export const isHiddenByStyle = ({ attribs }: Element): boolean =>
  /display\s*:\s*none|visibility\s*:\s*hidden|clip\s*:\s*rect\(\s*[01](?:px)?[\s,]/i.test(
    attribs.style ?? '',
  ) || /^\s*NOT\b/i.test(attribs['amp-access'] ?? '')

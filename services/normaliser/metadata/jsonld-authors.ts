import { get, isNode, type Json, type JsonLdNode, TEXTS, textsOf, typesOf } from './jsonld-nodes.ts'

/** A person or an organisation as structured data names one. */
export interface StatedAuthor {
  name: string
  organisation: boolean
  /** The account that posted, which Yoast SEO states whether or not readers are shown it. */
  account: boolean
}

/** Of a name, in characters. */
const LONGEST = 2_000
const AUTHOR_NODES = 200
const AUTHOR_DEPTH = 3
const ORGANISATION = /organi[sz]ation|newsmedia|corporation|brand|website/

/**
 * The authors that a property names: texts, objects, references, lists of these. At most
 * `AUTHOR_NODES` values are read: a page of 60 kB can refer to a list of authors ten thousand
 * times.
 */
export function authorsIn(value: Json | undefined, byId: Map<string, JsonLdNode>): StatedAuthor[] {
  const authors: StatedAuthor[] = []
  let nodes = 0
  for (const one of flattened(value, 0)) {
    nodes += 1
    if (nodes > AUTHOR_NODES || authors.length >= TEXTS) break
    if (one !== null) authors.push(...authorsOf(one, byId))
  }
  return authors.slice(0, TEXTS)
}

/**
 * The texts and objects of a value, lists opened up to `AUTHOR_DEPTH`. Every other value, and each
 * list itself, gives a null: it counts as read.
 */
function* flattened(value: Json | undefined, depth: number): Generator<string | JsonLdNode | null> {
  for (const one of Array.isArray(value) ? value.slice(0, TEXTS) : [value]) {
    if (typeof one === 'string') yield one
    else if (one === undefined || one === null || typeof one !== 'object' || depth > AUTHOR_DEPTH) yield null
    else if (isNode(one) && one['@list'] === undefined && one['@set'] === undefined) yield one
    else {
      yield null
      yield* flattened(isNode(one) ? (one['@list'] ?? one['@set']) : one, depth + 1)
    }
  }
}

function authorsOf(one: string | JsonLdNode, byId: Map<string, JsonLdNode>): StatedAuthor[] {
  if (typeof one === 'string') return stated([one.trim()], { organisation: false, account: false })
  const id = one['@id']
  const node = get(one, 'name') === undefined && typeof id === 'string' ? (byId.get(id) ?? one) : one
  const names = textsOf(get(node, 'name'))
  const parts = [get(node, 'givenName'), get(node, 'familyName')].flatMap(part => textsOf(part).slice(0, 1))
  return stated(names.length > 0 ? names : [parts.join(' ')], {
    organisation: typesOf(node).some(type => ORGANISATION.test(type)),
    account: textsOf(node['@id']).some(own => own.includes('#/schema/person/')),
  })
}

function stated(names: string[], kind: Pick<StatedAuthor, 'organisation' | 'account'>): StatedAuthor[] {
  return names.filter(name => name !== '').map(name => ({ name: name.slice(0, LONGEST), ...kind }))
}

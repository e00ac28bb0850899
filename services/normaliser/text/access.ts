import { isNode, type JsonLdNode } from '#services/normaliser/metadata/jsonld'
import type { Json } from '#shared/encoding/json'

/*
 * Who may read an article, by the data of its page. The names are those that publishing software
 * uses. A value that could mean both is no statement.
 */

/** `paid`: a part at least is for subscribers. Null: the data do not say. */
export type Access = 'free' | 'paid' | null

/** Signs of a wall anywhere on a page. They weigh less than the article's own words. */
export const WALL: RegExp =
  /pay-?_?wall|reg-?wall|tinypass|piano\.io|poool|zephr|laterpay|premium|metered|subscriber|content_?tier/i
const FREE_KEY =
  /^(?:is|for|has)?_?(?:accessible_?for_?)?(?:free|gratis|gratuit|kostenlos|public|full_?access)$/i
const PAID_KEY =
  /premium|pay_?wall|(?:is|for|^)_?paid|payant|kostenpflicht|betaal|monetiz|gated|charged|payment_?required|(?:subscri|abonn|member)\w{0,20}only|^(?:is|has)?_?(?:plus|abo)(?:_?(?:article|artikel|content))?$/i
const CLOSED_KEY =
  /metered|(?<!b)locked|protected|restricted|truncated|teaser_?only|^(?:is_?)?closed$|subscri|abonn|require\w{0,20}(?:login|registration|account|subscription)|(?:login|registration)_?required/i
const ACCESS_KEY =
  /acc[eè]s|visib|tier|level|restriction|content_?code|audience|status|flag|label|badge|product|entitle/i
const FREE = /^(?:free|public|open|all|everyone|anonymous|gratis|gratuite?|libre|kostenlos|frei)$/i
export const PAID: RegExp =
  /pay-?wall|premium|(?:^|\W)paid|subscri|abonn|^abo$|members?(?:$|\W)|(?:^|\W)plus$|(?<!b)locked|metered|registered|restricted|payant|kostenpflicht|betaal|reg-?wall/i

/** Who may read an article, by the values of its object and of the objects in it. */
export function accessWithin(node: JsonLdNode, depth = 3): Access {
  const says = [
    accessOf(node),
    ...Object.values(node).map(value =>
      isNode(value) && depth > 0 ? accessWithin(value, depth - 1) : null,
    ),
  ]
  return accessBy(says.includes('paid'), says.includes('free'))
}

/** Who may read an article, by the values of its object alone. */
export function accessOf(node: JsonLdNode): Access {
  const says = Object.entries(node).flatMap(([key, value]) => {
    const isList = Array.isArray(value) || (isNode(value) && ACCESS_KEY.test(key))
    const values: Json[] = isList ? Object.values(value).slice(0, LISTED) : [value]
    return values.map(one => accessIn(key, one))
  })
  return accessBy(says.includes('paid'), says.includes('free'))
}

function accessIn(key: string, value: Json): Access {
  const text = String(value).toLowerCase()
  const isYes = /^(?:true|1|yes|ja|oui)$/.test(text)
  const isNo = /^(?:false|0|no|none|nee|nein|non)$/.test(text)
  if (FREE_KEY.test(key)) return accessBy(isNo, isYes)
  if (typeof value === 'string' && text.length > LONGEST_STATEMENT) return null
  const says = accessBy(PAID.test(text), FREE.test(text))
  if (PAID_KEY.test(key)) return accessBy(isYes || says === 'paid', isNo || says === 'free')
  if (CLOSED_KEY.test(key)) return accessBy(isYes, false)
  return ACCESS_KEY.test(key) && typeof value === 'string' ? says : null
}
const LONGEST_STATEMENT = 40
const LISTED = 50

const accessBy = (isPaid: boolean, isFree: boolean): Access =>
  isPaid ? 'paid' : isFree ? 'free' : null

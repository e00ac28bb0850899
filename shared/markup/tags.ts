import { Tokenizer } from 'htmlparser2'

/** UTF-16 units of a page that are read for its metadata. */
const HTML_LIMIT = 10_000_000

/** Attributes that are kept of one element, and characters of one value. */
const ATTRIBUTE_LIMIT = 64
const VALUE_LIMIT = 20_000

export type Attributes = ReadonlyMap<string, string>

/** Receives tags and texts in document order. Names in lower case, entities decoded once. */
export interface TagReader {
  open(name: string, attributes: Attributes): void
  close(name: string): void
  /** A run of text may come in pieces. */
  text(text: string): void
}

/**
 * Reads tags and texts without building a tree. On hostile pages a tree takes time quadratic in its
 * depth, because a browser's rules search the whole stack for every tag. This function is linear at
 * any nesting.
 */
export function readTags(html: string, reader: TagReader): void {
  const source = html.length > HTML_LIMIT ? html.slice(0, HTML_LIMIT) : html
  let name = ''
  let attributes = new Map<string, string>()
  let attribute = ''
  let value: string[] = []
  const opened = () => reader.open(name, attributes)
  const tokenizer = new Tokenizer(
    {},
    {
      onopentagname(start, end) {
        name = source.slice(start, end).toLowerCase()
        attributes = new Map()
      },
      onattribname(start, end) {
        attribute = source.slice(start, Math.min(end, start + 100)).toLowerCase()
        value = []
      },
      onattribdata(start, end) {
        value.push(source.slice(start, Math.min(end, start + VALUE_LIMIT)))
      },
      onattribentity(codePoint) {
        value.push(String.fromCodePoint(codePoint))
      },
      onattribend() {
        // The first of two attributes with one name counts (HTML Standard, "duplicate-attribute").
        if (attributes.size < ATTRIBUTE_LIMIT && !attributes.has(attribute)) {
          attributes.set(attribute, value.join('').slice(0, VALUE_LIMIT))
        }
      },
      onopentagend: opened,
      onselfclosingtag: opened,
      onclosetag(start, end) {
        reader.close(source.slice(start, end).toLowerCase())
      },
      ontext(start, end) {
        reader.text(source.slice(start, end))
      },
      ontextentity(codePoint) {
        reader.text(String.fromCodePoint(codePoint))
      },
      oncdata() {},
      oncomment() {},
      ondeclaration() {},
      onend() {},
      onprocessinginstruction() {},
    },
  )
  tokenizer.write(source)
  tokenizer.end()
}

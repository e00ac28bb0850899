import { readTags } from '../../../shared/markup/tags.ts'
import { type BodyOutline, beginBody, closeElement, endBody, isUnread, openElement, readText } from './outline-body.ts'
import { beginHead, closeHeadElement, type HeadOutline, openHeadElement, takeHeadText } from './outline-head.ts'

/** The parts of a page that one pass over its tags finds. Nothing is judged yet. */
export interface Outline extends HeadOutline, BodyOutline {}

/** Reads a page once. Never throws. Its time grows linearly with the length, at any nesting. */
export function outlineOf(html: string): Outline {
  const head = beginHead()
  const body = beginBody()
  readTags(html, {
    open(name, attributes) {
      openHeadElement(head, name, attributes, isUnread(body))
      openElement(body, name, attributes)
    },
    close(name) {
      closeHeadElement(head, name)
      closeElement(body, name)
    },
    text(text) {
      if (!takeHeadText(head, text)) readText(body, text)
    },
  })
  endBody(body)
  return { ...head.outline, ...body.outline }
}

/**
 * Prose and comments wrap here, so that they can be read beside each other and compared line by
 * line.
 */
export const COLUMNS = 100

const lengthOf = (text: string) => [...text].length

/** True when a line is too long and could be broken. An address may exceed the limit. */
export const isTooLong = (line: string) =>
  lengthOf(line) > COLUMNS && !/https?:/.test(line) && lengthOf(wordsOf(line)[0] ?? '') + 1 < lengthOf(line.trim())

/** The words of a text. Short code and links are one word, though they hold spaces. */
const wordsOf = (text: string) => text.match(/(?:`[^`\n]{1,60}`|!?\[[^\]\n]{1,60}\]\([^)\s]*\)|\S)+/g) ?? []

/**
 * A word that would begin a list, a heading, a table or a tag of a docstring at the start of a
 * line.
 */
const isMarker = (word: string) => /^([-*+|>#]+|\d+[.)]|@\w+)$/.test(word)

/** Words, and each marker with the word before it. */
function unbreakables(text: string): string[] {
  const found: string[] = []
  for (const word of wordsOf(text)) {
    if (isMarker(word) && found.length > 0) found.push(`${found.pop()} ${word}`)
    else found.push(word)
  }
  return found
}

/** @param first the start of the first line @param rest the start of all other lines */
function fill(text: string, first: string, rest: string): string[] {
  const lines: string[] = []
  let line = first
  let isEmpty = true
  for (const word of unbreakables(text)) {
    if (!isEmpty && lengthOf(line) + 1 + lengthOf(word) > COLUMNS) {
      lines.push(line)
      line = rest + word
    } else line += isEmpty ? word : ` ${word}`
    isEmpty = false
  }
  return [...lines, line]
}

interface Paragraph {
  /** As they stand. */
  lines: string[]
  first: string
  rest: string
  words: string[]
}

const wrapped = ({ lines, first, rest, words }: Paragraph) =>
  lines.some(isTooLong) ? fill(words.join(' '), first, rest) : lines

/**
 * Wraps the paragraphs and lists that have a line that is too long. Tables, code, pictures and HTML
 * stay.
 */
export function wrapMarkdown(text: string): string {
  const found: string[] = []
  let paragraph: Paragraph | null = null
  let inCode = false
  const end = () => {
    if (paragraph !== null) found.push(...wrapped(paragraph))
    paragraph = null
  }
  for (const line of text.split('\n')) {
    const isFence = /^\s*```/.test(line)
    if (isFence) inCode = !inCode
    const item = /^(\s*(?:[-*+]|\d+[.)])\s+)(.*)$/.exec(line)
    if (isFence || inCode || !isProse(line) || line.trim() === '') {
      end()
      found.push(line)
    } else if (item !== null) {
      end()
      const [, first = '', words = ''] = item
      paragraph = { lines: [line], first, rest: ' '.repeat(first.length), words: [words] }
    } else if (paragraph === null) {
      const indent = /^\s*/.exec(line)?.[0] ?? ''
      paragraph = { lines: [line], first: indent, rest: indent, words: [line.trim()] }
    } else {
      paragraph.lines.push(line)
      paragraph.words.push(line.trim())
    }
  }
  end()
  return found.join('\n')
}

/** Not a heading, or a line of a table, a picture or HTML. */
const isProse = (line: string) => !/^(#{1,6} |\s*(\||!\[|<))/.test(line)

/** Lines of prose of a document. */
export function proseOf(markdown: string): { number: number; text: string }[] {
  let inCode = false
  return markdown
    .split('\n')
    .map((text, index) => ({ number: index + 1, text }))
    .filter(({ text }) => {
      const isFence = /^\s*```/.test(text)
      if (isFence) inCode = !inCode
      return !isFence && !inCode && isProse(text)
    })
}

/** Marks of a comment, the text after them, and the end of a comment of one line. */
const COMMENT = /^(\s*(?:\/\/|\/\*\*?|\*(?!\/)|--|#)(?: |$))(.*?)( \*\/)?$/

/**
 * Wraps the paragraphs of comments that have a line that is too long. Comments behind code stay.
 */
export function wrapComments(text: string): string {
  const found: string[] = []
  let paragraph: Paragraph | null = null
  const end = () => {
    if (paragraph !== null) found.push(...wrapped(paragraph))
    paragraph = null
  }
  for (const line of text.split('\n')) {
    const [, marks = '', said = '', close] = COMMENT.exec(line) ?? []
    const opens = /^\s*\/\*/.test(marks)
    if (opens && close !== undefined && isTooLong(line)) {
      end()
      const indent = /^\s*/.exec(line)?.[0] ?? ''
      const parts = said.split(/ (?=@(?:param|returns|throws)\b)/)
      const lines = parts.flatMap(part => fill(part, `${indent} * `, `${indent} * `))
      found.push(marks.trimEnd(), ...lines, `${indent} */`)
    } else if (marks === '' || said.trim() === '' || opens || close !== undefined) {
      end()
      found.push(line)
    } else if (paragraph === null || paragraph.rest !== marks || /^([-*@]|\s|\d+\.|\$\d)/.test(said)) {
      end()
      paragraph = { lines: [line], first: marks, rest: marks, words: [said] }
    } else {
      paragraph.lines.push(line)
      paragraph.words.push(said)
    }
  }
  end()
  return found.join('\n')
}

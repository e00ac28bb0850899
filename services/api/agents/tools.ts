import type { Tool as ListedTool } from '@modelcontextprotocol/sdk/types.js'
import type { Response } from 'express'
import { inFull, operatorsMeant } from '#search/index'
import type { Asking } from '#services/api/articles/find'
import { ApiError } from '#services/api/contract/errors'
import {
  EXPLORE_PARAMETERS,
  type Parameter,
  parameterSchema,
} from '#services/api/contract/parameters'
import { createProblems } from '#services/api/contract/query-string'
import { type ArticlesRequest, readSearch } from '#services/api/contract/request'
import {
  type ArticleObject,
  type PageEnvelope,
  STATED_PAGE_SCHEMA,
} from '#services/api/contract/resources'
import { RELATED_PARAMETERS, RELATED_SCHEMA } from '#services/api/explore/article-by-id'
import { COMPLETENESS_PARAMETERS, COMPLETENESS_SCHEMA } from '#services/api/explore/completeness'
import { COPIES_PARAMETERS, COPIES_SCHEMA } from '#services/api/explore/copies'
import { COUNTS_PARAMETERS, COUNTS_SCHEMA } from '#services/api/explore/counts'
import { LIMITS_SCHEMA } from '#services/api/explore/limits'
import { REMOVALS_PARAMETERS, REMOVALS_SCHEMA } from '#services/api/explore/removals'
import { WORDS_PARAMETERS, WORDS_SCHEMA } from '#services/api/explore/words'
import type { Answer, Content } from '#services/api/http/answer'
import { isRecord } from '#shared/encoding/is-record'
import { counted } from '#shared/log/printable'
import type { DaySum } from '#shared/outlets/days'
import { answerText, DATA_NOTE, linesText, pageText } from './text.ts'
import words from './words.json' with { type: 'json' }

/*
 * A tool for agents calls an operation of the API, which validates the arguments as it does for a
 * request over HTTP. The tool returns the operation's JSON, and a text that a model can read
 * directly. The text of a search also says how complete the days are.
 */

/** The answer of an operation to a query string, before headers and ETag are added. */
export type Answering = (asking: Asking, response: Response) => Promise<Content | Answer>

/** The operations that tools call, by the names of their paths. */
export type Answers = Record<
  'articles' | 'counts' | 'copies' | 'completeness' | 'limits' | 'related' | 'removals' | 'words',
  Answering
>

type Json = Record<string, unknown>

/** Calls an operation as a request over HTTP would. */
type Ask = <T extends object = Json>(operation: keyof Answers, rawQuery: string) => Promise<T>

export interface Tool {
  /** The parameters of the operation, which reads and checks them. */
  parameters: Record<string, Parameter>
  output: { properties: Json; required: readonly string[] }
  /**
   * A call takes no request from the quota of the month, and is answered when the quota is used up.
   */
  isFree?: true
  answer(rawQuery: string, ask: Ask): Promise<{ structured: object; text: string }>
}

/** The parts of answers that the texts for models describe. */
type Count = { key: string; count: number; parts?: { data: Count[] } }
interface Counts {
  total: number
  by: string
  data: Count[]
  other: number
  undated: number
  unsaid?: number
  meaning?: Partial<Said>
}
type Day = Pick<DaySum, 'named' | 'indexed' | 'share' | 'gap'> & {
  day?: string
  outlet?: { domain: string }
}
type Days = { data: Day[] }

/** The `answer` of a tool that calls one operation and describes its answer in a text. */
const asking =
  <T extends object>(operation: keyof Answers, text: (answer: T) => string): Tool['answer'] =>
  async (rawQuery, ask) => {
    const structured = await ask<T>(operation, rawQuery)
    return { structured, text: text(structured) }
  }

const READ_AS = { type: 'string', description: 'How the words were read.' }

/** The tools, in the order in which they are listed. All tools are read-only. */
export const TOOLS: Readonly<Record<string, Tool>> = {
  search_news: {
    parameters: EXPLORE_PARAMETERS,
    output: {
      required: [...STATED_PAGE_SCHEMA.required, 'read_as', 'completeness'],
      properties: {
        ...STATED_PAGE_SCHEMA.properties,
        read_as: READ_AS,
        meaning: {
          ...COUNTS_SCHEMA.properties.meaning,
          description:
            'Only with search=semantic: how many articles are close in meaning, and the relevance from which they are.',
        },
        completeness: {
          ...COMPLETENESS_SCHEMA.properties.data,
          description:
            'How much of what outlets published is here, of the days that the page has, 31 at most.',
        },
      },
    },
    async answer(rawQuery, ask) {
      const page = await ask<PageEnvelope>('articles', rawQuery)
      const request = readSearch(rawQuery, 'articles')
      const read_as = readAs(request)
      const meaning = await meaningOf(request, rawQuery, ask)
      const completeness = await daysOf(page.articles, request, rawQuery, ask)
      const here =
        completeness.length > 0
          ? `Here, of what outlets named: ${completeness.map(dayLine).join('; ')}`
          : `How complete these days are is ${NOT_KNOWN}.`
      const close = meaning === null ? [] : [meaning.note]
      const head = [...headOf(page, meaning !== null), DATA_NOTE, read_as, ...close, here]
      const text = pageText(head, page.articles)
      const found = { ...page, read_as, completeness }
      return { structured: meaning === null ? found : { ...found, meaning }, text }
    },
  },
  count_news: {
    parameters: COUNTS_PARAMETERS,
    output: {
      required: [...COUNTS_SCHEMA.required, 'read_as'],
      properties: { ...COUNTS_SCHEMA.properties, read_as: READ_AS },
    },
    async answer(rawQuery, ask) {
      const counts = await ask<Counts>('counts', rawQuery)
      const search = [...new URLSearchParams(rawQuery)].filter(
        ([name]) => name in EXPLORE_PARAMETERS,
      )
      const query = new URLSearchParams(search).toString()
      const request = readSearch(query, 'articles')
      const read_as = readAs(request)
      const own = counts.meaning
      const meaning = isSaid(own) ? own : await meaningOf(request, query, ask)
      const isOfClose = (counts.meaning?.close ?? 0) > 0
      const of = meaning === null ? '' : `, ${isOfClose ? 'close' : 'the nearest'} in meaning`
      const head = [
        read_as,
        meaning?.note,
        `Total ${counts.total}${of}. By ${counts.by}; what has no article is not listed:`,
      ]
        .filter(Boolean)
        .join('\n')
      const text = linesText(head, [
        ...counts.data.filter(({ count }) => count > 0).map(countLine),
        ...(counts.other > 0 ? [`others: ${counts.other}`] : []),
        ...(counts.undated > 0 ? [`without a date: ${counts.undated}`] : []),
        ...(counts.unsaid === undefined ? [] : [`the outlet does not say: ${counts.unsaid}`]),
      ])
      const found = { ...counts, read_as }
      return { structured: meaning === null ? found : { ...found, meaning }, text }
    },
  },
  list_copies: {
    parameters: COPIES_PARAMETERS,
    output: COPIES_SCHEMA,
    answer: asking('copies', answerText),
  },
  find_related: {
    parameters: RELATED_PARAMETERS,
    output: RELATED_SCHEMA,
    answer: asking('related', answerText),
  },
  list_words: {
    parameters: WORDS_PARAMETERS,
    output: WORDS_SCHEMA,
    isFree: true,
    answer: asking('words', answerText),
  },
  completeness: {
    parameters: COMPLETENESS_PARAMETERS,
    output: COMPLETENESS_SCHEMA,
    isFree: true,
    answer: asking('completeness', (days: Days) =>
      linesText(
        'Here, of what outlets named:',
        days.data.length > 0 ? days.data.map(dayLine) : [NOT_KNOWN],
      ),
    ),
  },
  list_removals: {
    parameters: REMOVALS_PARAMETERS,
    output: REMOVALS_SCHEMA,
    isFree: true,
    answer: asking('removals', answerText),
  },
  limits: {
    parameters: {},
    output: LIMITS_SCHEMA,
    isFree: true,
    answer: asking('limits', answerText),
  },
} satisfies Record<keyof typeof words, Tool>

/** What each tool is for, in the words that models read. */
const WORDS: Record<string, { title: string; description: string }> = words

/** The tools as clients see them. */
export const listedTools = (): ListedTool[] =>
  Object.entries(TOOLS).map(([name, { parameters, output }]) => ({
    name,
    title: WORDS[name]!.title,
    description: `${WORDS[name]!.description} ${DATA_NOTE}`,
    inputSchema: {
      type: 'object',
      properties: Object.fromEntries(
        Object.entries(parameters).map(([one, about]) => [one, argumentSchema(about)]),
      ),
      required: Object.keys(parameters).filter(one => parameters[one]?.required !== undefined),
      additionalProperties: false,
    },
    outputSchema: {
      type: 'object',
      properties: withoutFormats(output.properties),
      required: [...output.required],
    },
    annotations: {
      title: WORDS[name]!.title,
      readOnlyHint: true,
      destructiveHint: false,
      idempotentHint: true,
      openWorldHint: true,
    },
  }))

/**
 * The schema of a parameter in the one form that models should write. The reader of the operation
 * accepts more forms, and checks all of them.
 */
function argumentSchema(parameter: Parameter): object {
  const { kind } = parameter
  const description = withoutLinks(parameter.about)
  if (kind === 'flag') return { type: 'boolean', description }
  if (kind === 'instant') return { type: 'string', description }
  if (kind === 'text') return { type: 'string', maxLength: parameter.maxLength, description }
  return { ...parameterSchema(parameter), description }
}

/**
 * Output schemas without formats, without `additionalProperties` and without links. Clients check
 * answers by these schemas, and would refuse a whole page because of one odd address.
 */
function withoutFormats(properties: Json): Record<string, object> {
  return JSON.parse(
    JSON.stringify(properties, (name, value) =>
      (name === 'format' && typeof value === 'string') || name === 'additionalProperties'
        ? undefined
        : name === 'description' && typeof value === 'string'
          ? withoutLinks(value)
          : value,
    ),
  )
}

/** A description without the addresses of its links, which lead into the reference of the API. */
const withoutLinks = (text: string) => text.replace(/\[([^[\]]{1,200})\]\([^()]{0,200}\)/g, '$1')

/**
 * The arguments of a call as a query string, which the operation reads and checks.
 * @throws ApiError `invalid_request` for an argument that a query string cannot express
 */
export function queryOf(given: unknown): string {
  const query = new URLSearchParams()
  const problems = createProblems()
  if (!isRecord(given)) problems.add('arguments', 'Write an object, as {"q": "brug"}.')
  for (const [name, value] of Object.entries(isRecord(given) ? given : {})) {
    const values = value === null ? [] : Array.isArray(value) ? value : [value]
    if (values.every(isSayable)) for (const one of values) query.append(name, String(one))
    else problems.add(name, 'Write a text, a number, true or false, or a list of texts.')
  }
  problems.refuse()
  return query.toString()
}

const isSayable = (value: unknown) =>
  typeof value === 'string'
    ? value.isWellFormed()
    : typeof value === 'number' || typeof value === 'boolean'

function readAs({ question, q }: ArticlesRequest): string {
  if (question.search === 'semantic')
    return 'By meaning, in any language: at most 500 articles, the closest, then the filters.'
  const { match, searchIn } = question
  const place = searchIn === 'title' ? 'in headlines' : 'in headlines and texts'
  const phrases = (list: string[][]) =>
    list.map(words => (words.length === 1 ? words[0] : `"${words.join(' ')}"`))
  if (match.kind === 'all') return 'No words: all articles that the filters let in.'
  if (match.kind === 'expression') {
    const meant = operatorsMeant(q ?? '')
    const offer = meant === null ? '' : `; perhaps ${meant} was meant`
    return `As an expression, ${place}: ${inFull(match.tree)}${offer}`
  }
  const unread = OF_EXPRESSIONS.test(q ?? '') ? `; ${UNREAD}` : ''
  if (match.kind === 'keyword')
    return `Any of these words, in all their forms, ${place}: ${match.words.join(', ')}${unread}`
  const without =
    match.excluded.length === 0 ? '' : `; none of: ${phrases(match.excluded).join(', ')}`
  const all = phrases(match.required).join(', ')
  return `All of these, as written, ${place}: ${all}${without}${unread}`
}

/** What an expression reads and other searches do not: parts of words, and operators. */
const OF_EXPRESSIONS = /[\p{L}\p{N}]\*|\*[\p{L}\p{N}]|(?<=\S\s)(?:AND|NEAR\/\d+|NOT|OR)(?=\s\S)/u
const UNREAD = '* and AND, OR, NOT, NEAR count only with search=expression'

/** How much of what a search by meaning has found is close, and the sentence on it. */
interface Said {
  note: string
  close?: number | null
}

const isSaid = (meaning: Partial<Said> | undefined): meaning is Said => meaning?.note !== undefined

/** Asks how much is close; null: it is no search by meaning. */
async function meaningOf(
  { question }: ArticlesRequest,
  rawQuery: string,
  ask: Ask,
): Promise<Said | null> {
  if (question.search !== 'semantic') return null
  const query = new URLSearchParams(rawQuery)
  for (const name of ['per_page', 'cursor', 'order']) query.delete(name)
  query.set('by', 'country')
  query.set('close', 'true')
  return (await ask<{ meaning: Said }>('counts', query.toString())).meaning
}

const DAY = 86_400_000

/**
 * The completeness of the days on which the page's articles appeared. For a page without articles:
 * of the days that the request asked for.
 */
async function daysOf(
  articles: ArticleObject[],
  request: ArticlesRequest,
  rawQuery: string,
  ask: Ask,
) {
  const times = articles
    .flatMap(({ published_at, ingested_at }) => published_at ?? ingested_at ?? [])
    .sort()
  const first = times[0]
  const last = times.at(-1)
  const given = new URLSearchParams(rawQuery)
  const bounds =
    first === undefined || last === undefined
      ? {
          published_after: given.get('published_after'),
          published_before: given.get('published_before'),
        }
      : { published_after: laterOf(first, Date.parse(last) - 30 * DAY), published_before: last }
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries({
    ...bounds,
    country: request.countries,
    outlet: request.outlet,
    outlets: request.outlets,
  })) {
    if (value !== null) query.append(name, String(value))
  }
  const { data } = await ask<Days>('completeness', query.toString()).catch(
    (error: unknown): Days => {
      // The request covers too many days, or days before the plan's history. The page is then sent
      // without completeness.
      if (error instanceof ApiError && error.status < 500) return { data: [] }
      throw error
    },
  )
  const wanted = new Set(times.map(time => time.slice(0, 10)))
  return data.filter(({ day = '' }) => wanted.size === 0 || wanted.has(day)).slice(-31)
}

const laterOf = (time: string, ms: number) =>
  Date.parse(time) < ms ? new Date(ms).toISOString() : time

const headOf = (
  { total_results, total_results_is_estimate, articles, next_cursor }: PageEnvelope,
  isMeant: boolean,
): string[] => [
  `${isMeant ? 'The nearest: ' : total_results_is_estimate ? 'At least ' : ''}${counted(total_results, 'article')}; ${articles.length} on this page.`,
  next_cursor === null ? 'This is the last page.' : `For the next page: cursor=${next_cursor}`,
]

const countLine = ({ key, count, parts }: Count): string =>
  `${key}: ${count}${parts === undefined ? '' : ` (${parts.data.map(countLine).join(', ')})`}`

const NOT_KNOWN = 'not known'

/** Where outlets named no address, nobody knows how much they published. */
const dayLine = ({ day, outlet, named, indexed, share, gap }: Day): string =>
  named === 0
    ? `${day ?? outlet?.domain}: ${NOT_KNOWN}`
    : `${day ?? outlet?.domain}: ${indexed} of ${named}${share === null ? '' : ` (${Math.floor(100 * share)} %)`}${gap ? ', with a gap' : ''}`

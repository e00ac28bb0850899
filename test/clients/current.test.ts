import { readFileSync } from 'node:fs'
import type { FromSchema } from 'json-schema-to-ts'
import t, { type Test } from 'tap'
import { pythonTypes } from '#clients/python-types'
import type * as declared from '#clients/typescript/src/declarations.d'
import type * as client from '#clients/typescript/src/index'
import { openApiDocument } from '#services/api/contract/openapi'
import type { ArticleObject, ErrorObject, PageEnvelope } from '#services/api/contract/resources'
import type { RELATED_SCHEMA } from '#services/api/explore/article-by-id'
import { COMPLETENESS_SCHEMA } from '#services/api/explore/completeness'
import type { COPIES_SCHEMA } from '#services/api/explore/copies'
import type { COUNTS_SCHEMA } from '#services/api/explore/counts'
import type { REMOVALS_SCHEMA } from '#services/api/explore/removals'
import type { WORDS_SCHEMA } from '#services/api/explore/words'
import { COUNTRIES, LANGUAGES } from '#shared/articles/article'
import { examplesOf } from './examples.ts'

const ARTICLE: ArticleObject = {
  id: 'a',
  title: 'A',
  url: 'https://x.example',
  snippet: null,
  published_at: null,
  ingested_at: null,
  authors: [],
  outlet: { name: null, domain: null },
  language: 'nl',
  country: 'NL',
}

/** A type of a contract file: each field with its type and whether it may be absent. */
interface Field {
  type: string
  isOptional: boolean
}

/** `$ref` is resolved where it names an enumeration. */
interface Values {
  enum?: string[]
  items?: { enum?: string[] }
}

interface Schema extends Values {
  properties?: Record<string, Values>
  required?: string[]
}

const source = (path: string) =>
  readFileSync(new URL(`../../clients/${path}`, import.meta.url), 'utf8')
const CONTRACT = source('typescript/src/contract.ts')
/** Interfaces of which `/v1` has nothing. */
const BESIDE = ['Stated', 'Hinted']

/** The fields of an interface, and of those that it extends. */
function fieldsOf(name: string): Map<string, Field> {
  const [, bases = '', body = ''] =
    new RegExp(
      `^export interface ${name}(?: extends ([\\w, ]+))? \\{(?:\\}|\\n([\\s\\S]*?)^\\})`,
      'm',
    ).exec(CONTRACT) ?? []
  const fields = body.matchAll(/^ {2}(\w+)(\??):([\s\S]*?)(?=^ {2}(?:\w|\/\*)|(?![\s\S]))/gm)
  const own = [...fields].map(([, field = '', mark, type = '']): [string, Field] => [
    field,
    { type, isOptional: mark === '?' },
  ])
  const extended = bases.split(', ').filter(base => !['', ...BESIDE].includes(base))
  return new Map([...own, ...extended.flatMap(base => [...fieldsOf(base)])])
}

t.test('the types of the clients are what the OpenAPI document says', async t => {
  const written = JSON.stringify(openApiDocument('Perscope'))
  const enums: Record<string, Schema> = JSON.parse(written).components.schemas
  t.match(enums, { Language: { enum: LANGUAGES }, Country: { enum: COUNTRIES } })
  const { components } = JSON.parse(written, (_, value) => {
    const named = enums[/^#\/components\/schemas\/(\w+)$/.exec(value?.$ref)?.[1] ?? '']
    return named?.enum ? { ...value, ...named } : value
  })
  const schemas: [string, Schema][] = Object.entries(components.schemas)
  const parameters: { name: string; schema: Values }[] = Object.values(components.parameters)
  const properties = Object.fromEntries(parameters.map(({ name, schema }) => [name, schema]))
  for (const name of ['Language', 'Country']) {
    const type = new RegExp(`${name} = (.*)`).exec(CONTRACT)?.[1]
    t.same(type?.match(/\w\w(?=')/g), enums[name]?.enum, name)
  }
  compare(t, 'parameters', fieldsOf('ArticlesParameters'), { properties, required: [] })
  for (const [name, schema] of schemas) {
    if (schema.enum) continue
    compare(t, name, fieldsOf(name === 'Error' ? 'ErrorObject' : name), schema)
  }
})

function compare(
  t: Test,
  name: string,
  fields: Map<string, Field>,
  { properties = {}, required = [] }: Schema,
): void {
  t.same([...fields.keys()].sort(), Object.keys(properties).sort(), name)
  for (const [field, schema] of Object.entries(properties)) {
    const { type, isOptional } = fields.get(field) ?? { type: '', isOptional: null }
    t.equal(isOptional, !required.includes(field), `${name}.${field}`)
    const values = schema.enum ?? schema.items?.enum ?? []
    if (values.includes('yes') || /\b(Language|Country)\b/.test(type)) continue
    for (const value of values) t.ok(type.includes(`'${value}'`), `${name}.${field}: ${value}`)
  }
}

t.test('the types of the Python client are made from those of the other one', async t => {
  const made = pythonTypes(`
export type Kind =
  | 'news'
  | 'live'

/** In Python a float. */
type Fraction = number

/** Where a bucket
 * begins. */
export interface Bounds {
  from?: string
}

export interface Count extends Bounds, Other {
  /** null: nothing. */
  kind: Kind | readonly Kind[] | null
  share?: Fraction | Date | null | undefined
  parts: Record<string, Count[]>
}

export interface Empty extends Count {}

`)
  t.equal(
    made.slice(made.indexOf('Kind =')),
    `Kind = Literal['news', 'live']


Bounds = TypedDict("Bounds", {"from": str}, total=False)


class _Count(TypedDict):
    kind: Kind | Sequence[Kind] | None
    """None: nothing."""
    parts: dict[str, list[Count]]


class Count(_Count, Bounds, Other, total=False):
    share: float | date | datetime | None


class _Empty(TypedDict):
    pass


class Empty(_Empty, Count, total=False):
    pass
`,
  )
})

t.test('the written types take the answers of the API', async t => {
  // The compiler holds this: what the API sends is what a client gets.
  const page: PageEnvelope = {
    status: 'ok',
    total_results: 1,
    next_cursor: null,
    articles: [ARTICLE],
  }
  const counts: FromSchema<typeof COUNTS_SCHEMA> = {
    status: 'ok',
    by: 'outlet',
    total: 1,
    other: 0,
    undated: 0,
    data: [{ key: 'x', count: 1, outlet: { name: 'x', domain: null } }],
  }
  const error: ErrorObject = { status: 'error', code: 'internal_error', message: 'No.' }
  t.ok([
    page satisfies client.Page,
    ARTICLE satisfies client.Article,
    error satisfies client.ErrorObject,
  ])
  t.ok(counts satisfies client.Counts)
  const told: FromSchema<typeof COPIES_SCHEMA>['data'] = [
    { id: 'x', first: 'y', agencies: [], copies: [{ article: ARTICLE, shared: 1 }], own_words: 0 },
  ]
  t.ok(told satisfies client.Copies[])
  const related: FromSchema<typeof RELATED_SCHEMA>['data'] = [{ article: ARTICLE, days: -1 }]
  t.ok(related satisfies client.Related[] | null)
  const { properties } = COMPLETENESS_SCHEMA.properties.data.items
  t.ok(properties satisfies Record<keyof client.CoverageRow, object>)
  const removals: FromSchema<typeof REMOVALS_SCHEMA> = {
    status: 'ok',
    data: [{ number: 1, id: 'x', removed_at: 'y' }],
    last: 1,
    more: false,
  }
  t.ok(removals satisfies client.Removals)
  const words: FromSchema<typeof WORDS_SCHEMA> = {
    status: 'ok',
    part: 'a*',
    total: 1,
    data: [{ word: 'ab', count: 1 }],
  }
  t.ok(words satisfies client.Words)
})

t.test('the declarations that are shipped are what the program exports', async t => {
  // The compiler holds this, in both directions.
  const shipped: (written: typeof client) => typeof declared = written => written
  const written: (shipped: typeof declared) => typeof client = shipped => shipped
  t.ok([shipped, written])
})

t.test('both packages have one version', async t => {
  const { version } = JSON.parse(source('typescript/package.json'))
  t.match(source('python/pyproject.toml'), `\nversion = "${version}"\n`)
  for (const path of [
    'typescript/README.md',
    'python/README.md',
    '../docs/analysis.md',
    '../docs/explore.md',
  ])
    for (const [, named] of source(path).matchAll(/perscope-(\d[\w.]*\d)\b/g))
      t.equal(named, version, path)
})

t.test('the READMEs have examples of every operation', async t => {
  for (const [name, fence] of [
    ['typescript', 'ts'],
    ['python', 'python'],
  ] as const) {
    const all = examplesOf(name, fence).join('\n')
    for (const operation of ['search', 'articles', 'poll', 'counts', 'copies', 'searches', 'feed'])
      t.match(all, new RegExp(`client\\.${operation}\\(`), `${name}: ${operation}`)
  }
})

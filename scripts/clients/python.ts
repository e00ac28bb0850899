import { type ApiDocument, clientName, type QueryParameter, type Schema, typeName } from './schema.ts'

/** The types of the Python client, printed from the OpenAPI document. */
export function pythonTypes({ components }: ApiDocument): string {
  const objects = dependenciesFirst(components.schemas).flatMap(([name, schema]) =>
    typedDicts(clientName(name), schema),
  )
  const parameters = Object.values(components.parameters).map(parameter =>
    field(parameter.name, `Optional[${parameterType(parameter)}]`, parameter.description),
  )
  const query = parameters.filter(one => !one.includes('    cursor: '))
  return [
    '# Written by `npm run clients` from the OpenAPI document. Fields may be added within /v1.',
    'from datetime import date, datetime\nfrom typing import Dict, List, Literal, Optional, Sequence, TypedDict, Union\n',
    ...objects,
    dict('ArticlesQuery', 'TypedDict, total=False', query, 'A search; the cursor belongs to its pages.'),
    dict(
      'ArticlesParameters',
      'ArticlesQuery, total=False',
      parameters.filter(one => !query.includes(one)),
      '',
    ),
  ].join('\n\n')
}

/** Python names a class only after it is defined. */
function dependenciesFirst(schemas: Record<string, Schema>): [string, Schema][] {
  const named = (schema: Schema) =>
    [...JSON.stringify(schema).matchAll(/#\/components\/schemas\/(\w+)/g)].map(m => m[1])
  const rest = new Map(Object.entries(schemas))
  const sorted: [string, Schema][] = []
  while (rest.size > 0) {
    const ready = [...rest].filter(([, schema]) => !named(schema).some(name => name !== undefined && rest.has(name)))
    if (ready.length === 0) throw new Error('Schemas of the OpenAPI document refer to each other in a circle.')
    for (const [name, schema] of ready) {
      sorted.push([name, schema])
      rest.delete(name)
    }
  }
  return sorted
}

/** Python 3.10 cannot mark single fields as optional: they stand in a class of their own. */
function typedDicts(name: string, { properties = {}, required = [] }: Schema): string[] {
  const fields = (wanted: boolean) =>
    Object.entries(properties)
      .filter(([key]) => required.includes(key) === wanted)
      .map(([key, schema]) => field(key, typeOf(schema), schema.description))
  const optional = fields(false)
  if (optional.length === 0) return [dict(name, 'TypedDict', fields(true), '')]
  return [dict(`_${name}`, 'TypedDict', fields(true), ''), dict(name, `_${name}, total=False`, optional, '')]
}

function dict(name: string, bases: string, fields: string[], about: string): string {
  const body = [...(about === '' ? [] : [`    """${about}"""\n`]), ...fields]
  return `\nclass ${name}(${bases}):\n${body.join('\n')}\n`.replace(/\n$/, '')
}

const field = (name: string, type: string, about: string | undefined) =>
  `    ${name}: ${type}${about === undefined ? '' : `\n    """${about.replaceAll('"', "'")}"""`}`

function typeOf(schema: Schema): string {
  if (schema.$ref !== undefined) return typeName(schema.$ref)
  if (schema.const !== undefined) return `Literal[${literal(schema.const)}]`
  if (schema.enum !== undefined) return `Literal[${schema.enum.map(literal).join(', ')}]`
  if (Array.isArray(schema.type)) {
    const types = schema.type.filter(type => type !== 'null').map(type => typeOf({ ...schema, type }))
    return `Optional[${types.join(', ')}]`
  }
  switch (schema.type) {
    case 'array':
      return `List[${typeOf(schema.items ?? {})}]`
    case 'object':
      return `Dict[str, ${typeOf(schema.additionalProperties ?? {})}]`
    default:
      return { integer: 'int', number: 'float', boolean: 'bool', string: 'str' }[schema.type ?? ''] ?? 'object'
  }
}

/** Wider than the schema where the client writes the value: dates, booleans, single values. */
function parameterType({ name, schema }: QueryParameter): string {
  if (/_(after|before)$/.test(name)) return 'Union[str, date, datetime]'
  if (schema.enum?.includes('yes')) return 'bool'
  if (schema.type === 'array') {
    const one = typeOf(schema.items ?? {})
    return `Union[${one}, Sequence[${one}]]`
  }
  return typeOf(schema)
}

const literal = (value: unknown) => (typeof value === 'boolean' ? (value ? 'True' : 'False') : JSON.stringify(value))

import { type ApiDocument, clientName, type QueryParameter, type Schema, typeName } from './schema.ts'

/** The types of the TypeScript client, printed from the OpenAPI document. */
export function typescriptTypes({ components }: ApiDocument): string {
  const objects = Object.entries(components.schemas).map(
    ([name, { properties = {}, required = [] }]) =>
      `export interface ${clientName(name)} {\n${Object.entries(properties)
        .map(([field, schema]) =>
          line(`${field}${required.includes(field) ? '' : '?'}: ${typeOf(schema)}`, schema.description),
        )
        .join('\n')}\n}`,
  )
  const parameters = Object.values(components.parameters).map(parameter =>
    line(`${parameter.name}?: ${parameterType(parameter)} | null | undefined`, parameter.description),
  )
  return [
    '// Written by `npm run clients` from the OpenAPI document. Fields may be added within /v1.',
    ...objects,
    `export interface ArticlesParameters {\n${parameters.join('\n')}\n}`,
    "/** A search; the cursor belongs to its pages. */\nexport type ArticlesQuery = Omit<ArticlesParameters, 'cursor'>",
    '',
  ].join('\n\n')
}

const line = (code: string, about: string | undefined) => `${about === undefined ? '' : `  /** ${about} */\n`}  ${code}`

function typeOf(schema: Schema): string {
  if (schema.$ref !== undefined) return typeName(schema.$ref)
  if (schema.const !== undefined) return literal(schema.const)
  if (schema.enum !== undefined) return schema.enum.map(literal).join(' | ')
  if (Array.isArray(schema.type)) return schema.type.map(type => typeOf({ ...schema, type })).join(' | ')
  switch (schema.type) {
    case 'array':
      return `${grouped(typeOf(schema.items ?? {}))}[]`
    case 'object':
      return `Record<string, ${typeOf(schema.additionalProperties ?? {})}>`
    case 'integer':
      return 'number'
    default:
      return schema.type ?? 'unknown'
  }
}

/** Wider than the schema where the client writes the value: dates, booleans, single values. */
function parameterType({ name, schema }: QueryParameter): string {
  if (/_(after|before)$/.test(name)) return 'string | Date'
  if (schema.enum?.includes('yes')) return 'boolean'
  if (schema.type === 'array') {
    const one = typeOf(schema.items ?? {})
    return `${one} | readonly ${grouped(one)}[]`
  }
  return typeOf(schema)
}

const literal = (value: unknown) => (typeof value === 'string' ? `'${value}'` : String(value))
const grouped = (type: string) => (type.includes(' ') ? `(${type})` : type)

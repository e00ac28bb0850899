/** The part of JSON Schema that the OpenAPI document uses. */
export interface Schema {
  $ref?: string
  type?: string | string[]
  const?: unknown
  enum?: unknown[]
  description?: string
  items?: Schema
  properties?: Record<string, Schema>
  required?: string[]
  additionalProperties?: Schema
}

/** A parameter of the query, as the OpenAPI document describes it. */
export interface QueryParameter {
  name: string
  description: string
  schema: Schema
}

export interface ApiDocument {
  components: { schemas: Record<string, Schema>; parameters: Record<string, QueryParameter> }
}

/** The name of the schema that a reference leads to, as the clients call it. */
export const typeName = (ref: string): string => clientName(ref.split('/').at(-1) ?? '')

/** `Error` is a class of both languages. */
export const clientName = (name: string): string => (name === 'Error' ? 'ErrorObject' : name)

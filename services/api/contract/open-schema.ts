/**
 * A schema for readers, without `additionalProperties: false` at any depth: fields may be added
 * within /v1 (decision 38), so a client must not refuse them. The tests hold our own answers
 * against the closed schema.
 */
export function openSchema(schema: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(schema)
      .filter(([name, value]) => name !== 'additionalProperties' || value !== false)
      .map(([name, value]) => [name, isSchema(value) ? openSchema(value) : value]),
  )
}

const isSchema = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

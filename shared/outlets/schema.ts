import { COUNTRIES, LANGUAGES } from '../articles/article.ts'

// `readAddress` checks whether it is an address that can be fetched.
const address = { type: 'string', minLength: 1 }
const addresses = { type: 'array', items: address, maxItems: 200 }

/** The catalogue file (JSON Schema draft-07): the input of `npm run outlets -- sync FILE`. */
export const CATALOGUE_SCHEMA = {
  type: 'object',
  required: ['outlets'],
  properties: {
    outlets: {
      type: 'array',
      maxItems: 100_000,
      items: {
        type: 'object',
        required: ['name', 'domain', 'country', 'languages', 'timeZone'],
        properties: {
          name: { type: 'string', minLength: 1, maxLength: 200, pattern: '\\S' },
          // A host name, in any case. IP addresses and ports serve tests.
          domain: { type: 'string', minLength: 1, maxLength: 253, pattern: '^[^\\s/@?#]+$' },
          country: { type: 'string', enum: COUNTRIES },
          languages: {
            type: 'array',
            minItems: 1,
            maxItems: LANGUAGES.length,
            items: { type: 'string', enum: LANGUAGES },
          },
          timeZone: { type: 'string', minLength: 1 },
          feeds: addresses,
          sitemaps: addresses,
          // For readers of the file: what the feeds cover, and what a check found; null: untried.
          sections: { type: 'array', items: { type: 'string', maxLength: 200 }, maxItems: 200 },
          tried: { type: ['object', 'null'] },
        },
      },
    },
  },
} as const

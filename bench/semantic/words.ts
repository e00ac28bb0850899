import type { Random } from '../search/generator.ts'
import { FIRST_DAY, FIVE_YEARS } from './generated.ts'

const WORDS = ['regering', 'gemeente', 'trein', 'storm', 'koning', 'voetbal', 'energie', 'prijzen', 'bossen', 'school']
  .concat(['élections', 'budget', 'police', 'grève', 'musée', 'Wetter', 'Polizei', 'Wirtschaft', 'Grenze', 'Schoul'])
  .concat([
    'election',
    'housing',
    'climate',
    'border',
    'hospital',
    'Lëtzebuerg',
    'Chamber',
    'Kierch',
    'Police',
    'Gemeng',
  ])

/** Random words, some with a number, so that hardly two questions are equal. */
export const words = (random: Random, count: number) =>
  Array.from({ length: count }, () => `${random.one(WORDS)}${random.chance(0.2) ? random.below(100) : ''}`).join(' ')

/** Articles to import, one JSON object a line. */
export function newArticles(count: number, random: Random): string {
  const outlet = { name: 'Generated', domain: 'generated.example' }
  return Array.from({ length: count }, (_, number) =>
    JSON.stringify({
      title: words(random, 8),
      url: `https://generated.example/new/${number}`,
      body: words(random, 100),
      published_at: new Date(FIRST_DAY + random.below(FIVE_YEARS)).toISOString(),
      authors: [],
      outlet,
      language: 'nl',
      country: 'NL',
    }),
  ).join('\n')
}

import t from 'tap'
import { FIELDS, type Origins, readOrigins, SOURCES, writeOrigins } from './origins.ts'

const ORIGINS: Origins = {
  title: { source: 'json-ld', sure: 'confirmed' },
  date: { source: 'vague meta', sure: 'guessed' },
  authors: { source: 'none', sure: 'guessed' },
  text: { source: 'page', sure: 'stated' },
  language: { source: 'words', sure: 'confirmed' },
}

t.test('the origins of an article take two characters a field, and are read back', async t => {
  const written = writeOrigins(ORIGINS)
  t.equal(written, 'j3v1-1p2w3')
  t.equal(written.length, 2 * FIELDS.length)
  t.strictSame(readOrigins(written), ORIGINS)
})

t.test('a text of another form has no origins', async t => {
  for (const text of ['', 'j3', 'j3v1-1p2', 'j0v1-1p2w3', '?3v1-1p2w3', 'j4v1-1p2w3'])
    t.equal(readOrigins(text), null, text)
})

t.test('no two sources share a letter', async t => {
  t.equal(new Set(Object.values(SOURCES)).size, Object.keys(SOURCES).length)
})

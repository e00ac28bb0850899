import t from 'tap'
import { read } from '#test/docs/checkout'
import { readImports } from './imports.ts'

/*
 * What follows from a table changes with the table. So every table from which others follow has
 * few writers. A new writer calls one of them, or does all that they do and joins the list.
 */

const WRITERS = {
  ingest_clock: [
    'scripts/backup/database.ts',
    'search/indexing/writer.ts',
    'search/store/tombstones.ts', // the number of a removal
  ],
  articles: [
    'search/indexing/writer.ts',
    'search/store/postgres-articles.ts', // what outlets say, once
    'search/store/tombstones.ts',
  ],
  article_texts: [
    'scripts/reindex/fields.ts', // the snippet
    'search/indexing/writer.ts',
    'shared/articles/bounds.ts', // the snippet
  ],
  article_words: ['search/indexing/writer.ts', 'search/store/postgres-articles.ts'],
  // The writer knows the rights before an article is visible. Nothing follows from them yet.
  article_rights: [
    'search/indexing/writer.ts',
    'search/store/tombstones.ts',
    'shared/articles/bounds.ts',
  ],
  article_days: ['search/indexing/writer.ts'],
  outlet_domains: ['search/store/outlet-domains.ts'],
  article_ids: ['search/indexing/identity.ts', 'search/store/tombstones.ts'],
  article_addresses: [
    'scripts/reindex/renew.ts', // keys of newer rules, for known ids
    'search/indexing/identity.ts',
    'search/store/tombstones.ts',
  ],
  publishers: ['search/indexing/identity.ts', 'search/store/postgres-articles.ts'],
  authors: [
    'search/indexing/identity.ts',
    'search/store/postgres-articles.ts',
    'search/store/tombstones.ts',
  ],
  derived_rules: ['shared/articles/rules.ts'],
  copy_sketches: ['shared/copies/pass.ts'],
  copies_due: ['shared/copies/pass.ts'],
  copies_state: ['shared/copies/pass.ts'],
  citations: ['shared/desk/citations.ts'],
} satisfies Record<string, string[]>

const files = readImports().files.filter(file => !/^(test|bench)\/|\.test\.ts$/.test(file))

/** The tables that a file writes, by the words of its statements. */
const writtenIn = (file: string) =>
  [
    ...read(file).matchAll(
      /\b(?:insert into|update|delete from|merge into|truncate(?: \w+,)*) (\w+)/g,
    ),
  ]
    .map(([, table = '']) => table)
    .filter(table => table in WRITERS)

t.test('tables from which others follow are written by few files', async t => {
  const found = Object.fromEntries(Object.keys(WRITERS).map(table => [table, new Set<string>()]))
  for (const file of files) for (const table of writtenIn(file)) found[table]?.add(file)
  const named = Object.entries(found).map(([table, writers]) => [table, [...writers].sort()])
  t.strictSame(Object.fromEntries(named), WRITERS)
})

import type { Language } from '#shared/articles/article'
import type { SameEvent } from '#shared/embeddings/models'
import { COVERED, COVERED_TIME, type Reach } from '#shared/plans/reach'
import type { Queryable } from '#shared/postgres/pool'
import type { NearArticle } from './store.ts'

const DAY = 86_400_000
/** The most ms between an article and a related one, before or after it. */
export const AROUND: number = 3 * DAY

/**
 * How many articles the vector store returns. This is many more than a user sees, because the store
 * returns several copies from most groups.
 */
export const AROUND_LIMIT = 300

/** How many related articles a user sees at most. */
export const MOST_RELATED = 10

/** The values of an article that decide which articles are related to it. */
export interface Subject {
  seq: bigint
  /** Time of publication, or else of ingestion; ms since 1970. */
  at: number
  language: Language
  outlet: string
  /**
   * The `seq` of the first article in its group of copies (`shared/copies`); without a group, its
   * own `seq`.
   */
  group: bigint
}

/** A related article, and the values that explain the relation. */
export interface Related {
  seq: bigint
  id: string
  language: Language
  /** Whole days from the subject to this article; negative: this article is earlier. */
  days: number
  /** The cosine of the two vectors. */
  similarity: number
  /** The lowest cosine for this pair of languages; null: not measured for the model. */
  threshold: number | null
}

/** The lowest cosine for these languages. @returns null: not measured */
export const thresholdOf = (same: SameEvent | null, a: Language, b: Language): number | null =>
  same && (a === b ? same.within : same.across)

/** The lowest threshold; null: not measured. */
export const leastOf = (same: SameEvent | null): number | null =>
  same && Math.min(same.within, same.across)

/**
 * $1: what `which` asks for, $2 countries, $3 the earliest time. Indexes: the primary keys;
 * copy_sketches_members, which only has articles that are copies of an earlier one.
 */
const subjects = (which: string) => `
  select a.seq, a.id, a.language, p.outlet, coalesce(s.first_seq, a.seq) as group,
         floor(extract(epoch from ${COVERED_TIME}) * 1000)::float8 as at
    from articles a join publishers p using (publisher_no)
         left join copy_sketches s on s.seq = a.seq and s.first_seq <> s.seq
   where ${which} and ${COVERED}`

type Row = Subject & Pick<Related, 'id'>

/**
 * The articles that exist and that the plan covers: those with these numbers, or those with an id.
 *
 * @param ids its SQL condition on `articles a`; $1 is the id
 */
export async function readSubjects(
  db: Queryable,
  asked: bigint[] | { id: string; ids: string },
  { countries, since }: Reach,
): Promise<Row[]> {
  const [name, which, value] = Array.isArray(asked)
    ? ['related-subjects', 'a.seq = any ($1::bigint[])', asked]
    : ['related-subject', asked.ids, asked.id]
  return (await db.query<Row>({ name, text: subjects(which), values: [value, countries, since] }))
    .rows
}

/**
 * Chooses the articles on the same event as `subject`, one of each group of copies. Articles in
 * other languages come first, then those of other outlets, then the closest.
 */
export function chooseRelated(
  subject: Subject,
  near: NearArticle[],
  rows: Row[],
  same: SameEvent | null,
): Related[] {
  const scores = new Map(near.map(({ seq, score }) => [seq, score]))
  const groups = new Set([subject.group])
  return rows
    .map(row => ({
      ...row,
      similarity: scores.get(row.seq)!,
      threshold: thresholdOf(same, subject.language, row.language),
    }))
    .filter(({ similarity, threshold }) => threshold === null || similarity >= threshold)
    .sort(
      (a, b) =>
        Number(a.language === subject.language) - Number(b.language === subject.language) ||
        Number(a.outlet === subject.outlet) - Number(b.outlet === subject.outlet) ||
        b.similarity - a.similarity ||
        Number(a.seq - b.seq),
    )
    .filter(({ group }) => !groups.has(group) && groups.add(group))
    .slice(0, MOST_RELATED)
    .map(({ seq, id, language, at, similarity, threshold }) => {
      const days = Math.trunc((at - subject.at) / DAY)
      return { seq, id, language, days, similarity, threshold }
    })
}

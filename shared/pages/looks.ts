/**
 * The ages at which a page is looked at again, as multiples of CRAWL_RECHECK. With 15 minutes these
 * are 15 minutes, two hours and a day. Most corrections come in the first hours.
 */
const AGES = [1, 8, 96]

/**
 * Looks at one page, planned and hinted together. A feed that names a change at each poll, or a
 * live blog, must not keep us coming.
 */
export const MOST_LOOKS = 12

/**
 * SQL: the time of the next planned look, or null when there is none. It is the first of the ages
 * that lies at least CRAWL_RECHECK ahead. An old page is thus never looked at, and a look that came
 * late skips those that it replaces.
 *
 * @param born SQL of the time from which the page's age counts
 * @param recheck SQL of CRAWL_RECHECK in ms
 */
export const plannedLook = (born: string, recheck: string) => `
  (select min(${born} + ${recheck}::float8 * age * interval '1 ms') from unnest(array[${AGES.join(', ')}]) age
    where ${born} + ${recheck}::float8 * age * interval '1 ms' >= clock_timestamp() + ${recheck}::float8 * interval '1 ms')`

/**
 * SQL: the time of a look because something says that the page has changed. Half of the page's age
 * lies between two such looks; CRAWL_RECHECK at least, and the last of the ages at most.
 *
 * @param answered SQL of the time of the last answer
 */
export const hintedLook = (born: string, answered: string, recheck: string) => `
  greatest(clock_timestamp(),
           ${answered} + greatest(${recheck}::float8 * interval '1 ms',
                                  least((${answered} - ${born}) / 2, ${recheck}::float8 * ${AGES.at(-1)} * interval '1 ms')))`

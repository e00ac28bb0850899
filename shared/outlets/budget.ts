import type { Config } from '../config/config.ts'
import type { OutletHealth } from '../status/figures.ts'

/** The share of the crawl that one outlet may use in a day (UTC); see the settings. */
export type Budget = Pick<Config, 'CRAWL_OUTLET_HOSTS' | 'CRAWL_OUTLET_PAGES' | 'CRAWL_OUTLET_BYTES'>

/** The share of each of its budgets that an outlet has used today: 1 is all of it. */
export function budgetsUsed(
  { today }: Pick<OutletHealth, 'today'>,
  budget: Budget,
): Record<keyof OutletHealth['today'], number> {
  return {
    hosts: today.hosts / budget.CRAWL_OUTLET_HOSTS,
    pages: today.pages / budget.CRAWL_OUTLET_PAGES,
    bytes: today.bytes / budget.CRAWL_OUTLET_BYTES,
  }
}

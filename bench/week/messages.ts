/** What the process of the site is told first. */
export interface Order {
  port: number
  outlets: number
  perDay: number
  /** So many simulated seconds pass in a real one. */
  speed: number
}

/** The site says this at its beginning, and once more when it is asked to. */
export type Said =
  | { kind: 'ready' }
  | {
      kind: 'state'
      /** Real time of each article's publication, ms since 1970, by its number from 1. */
      published: number[]
      /** Whether the week is over. */
      over: boolean
      requests: { feeds: number; unchanged: number; pages: number }
    }

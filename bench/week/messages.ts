/** The bench sends this to the process of the site first. */
export interface Order {
  port: number
  outlets: number
  perDay: number
  /** So many simulated seconds pass in a real one. */
  speed: number
}

/** The site says this at its beginning, and its state when it is asked. */
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

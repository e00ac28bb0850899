import type { ServerResponse } from 'node:http'

/** Watches how a host is asked: one request at a time, and a pause between two (promise 5). */
export interface Manners {
  /** Notes a request. What it returns is to be called before its answer ends. */
  watch(url: string, response: ServerResponse): () => void
  /** Every breach, in a sentence. */
  breaches: readonly string[]
}

/** Whoever waited longer has probably gone away before the answer came, and its pause began unseen. */
const PATIENCE_MS = 4_000

/** @param pause ms that lie at least between the end of an answer and the next request */
export function watchManners(host: string, pause: number): Manners {
  const breaches: string[] = []
  let open: string | null = null
  let last = { url: '', took: 0, ended: Number.NEGATIVE_INFINITY }
  return {
    breaches,
    watch(url, response) {
      const began = performance.now()
      const when = `${host} was asked for ${url} at ${new Date().toISOString()}`
      const gap = began - last.ended
      if (open !== null) breaches.push(`${when} while ${open} was not answered yet.`)
      else if (gap < pause && last.took < PATIENCE_MS)
        breaches.push(`${when}, ${gap.toFixed(1)} ms after ${last.url} was answered in ${last.took.toFixed(0)} ms.`)
      open = url
      let over = false
      const end = (ended: number) => {
        if (over) return
        over = true
        last = { url, took: performance.now() - began, ended }
        if (open === url) open = null
      }
      // Of a reader who went away we only know that it was some time ago.
      response.once('close', () => end(Number.NEGATIVE_INFINITY))
      return () => end(performance.now())
    },
  }
}

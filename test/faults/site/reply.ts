import type { OutgoingHttpHeaders, ServerResponse } from 'node:http'

/** The ways in which the site answers. */
export interface Reply {
  send(status: number, headers?: OutgoingHttpHeaders, body?: Buffer | string): void
  redirect(to: string): void
  /** Half of the bytes that were promised, then the end. */
  cutShort(headers: OutgoingHttpHeaders, body: Buffer): void
  /** No answer at all. */
  breakOff(): void
}

/** @param ending called before the last thing that the reader gets to see */
export function createReply(response: ServerResponse, ending: () => void): Reply {
  const breakOff = () => {
    ending()
    response.destroy()
  }
  return {
    send(status, headers = {}, body = '') {
      ending()
      response.writeHead(status, headers).end(body)
    },
    redirect(to) {
      ending()
      response.writeHead(302, { location: to }).end()
    },
    cutShort(headers, body) {
      response.writeHead(200, headers)
      response.write(body.subarray(0, body.length / 2), breakOff)
    },
    breakOff,
  }
}

/** Watches how a host is asked: one request at a time, and a pause between two (promise 5). */
export interface Manners {
  /** Notes a request. What it returns is to be called before its answer ends. */
  watch(url: string, response: ServerResponse): () => void
  /** Every breach, in a sentence. */
  breaches: readonly string[]
}

/**
 * A client that waited longer has probably gone before the answer came, and its pause began unseen.
 */
const PATIENCE_MS = 4_000

/**
 * A crawler gives up a request long before. One that is open for longer belongs to a process that
 * stands still: nobody else can close its connection, and the host's next visitor has come in its
 * place.
 */
const FROZEN_MS = 9_000

/**
 * @param pause ms that lie at least between the end of an answer and the next request
 * @param frozen ms after which a request that is not answered is nobody's any more
 */
export function watchManners(host: string, pause: number, frozen = FROZEN_MS): Manners {
  const breaches: string[] = []
  let open: { url: string; began: number } | null = null
  let last = { url: '', took: 0, ended: Number.NEGATIVE_INFINITY }
  return {
    breaches,
    watch(url, response) {
      const began = performance.now()
      const when = `${host} was asked for ${url} at ${new Date().toISOString()}`
      const gap = began - last.ended
      if (open !== null && began - open.began < frozen) breaches.push(`${when} while ${open.url} was not answered yet.`)
      else if (gap < pause && last.took < PATIENCE_MS)
        breaches.push(`${when}, ${gap.toFixed(1)} ms after ${last.url} was answered in ${last.took.toFixed(0)} ms.`)
      const mine = { url, began }
      open = mine
      let over = false
      const end = (ended: number) => {
        if (over) return
        over = true
        last = { url, took: performance.now() - began, ended }
        if (open === mine) open = null
      }
      // Of a reader who went away we only know that it was some time ago.
      response.once('close', () => end(Number.NEGATIVE_INFINITY))
      return () => end(performance.now())
    },
  }
}

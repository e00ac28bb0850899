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

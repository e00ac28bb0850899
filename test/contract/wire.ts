import { openLinkTo } from '../fleet/links/link.ts'

/** A way to Postgres that notes the statements on it. */
export type Wire = Awaited<ReturnType<typeof openWire>>

export async function openWire(databaseUrl: string) {
  let names: string[] = []
  const { url, close } = await openLinkTo(databaseUrl, () => messageReader(name => names.push(name)))
  return {
    ...{ url, close },
    /** The names of the prepared statements that were run since the last call; '' has no name. */
    statements() {
      const run = names
      names = []
      return run
    },
  }
}

/**
 * Reads what a client sends (PostgreSQL, "Message Formats"): a start without a type, then messages
 * of a type, a length and a content. Bind names its statement; Query has no name.
 */
function messageReader(run: (name: string) => void): (bytes: Buffer) => void {
  let rest = Buffer.alloc(0)
  let head = 0
  return bytes => {
    rest = Buffer.concat([rest, bytes])
    while (rest.length >= head + 4 && rest.length >= head + rest.readInt32BE(head)) {
      const end = head + rest.readInt32BE(head)
      if (head === 1) note(String.fromCharCode(rest[0]!), rest.subarray(head + 4, end), run)
      rest = rest.subarray(end)
      head = 1
    }
  }
}

function note(type: string, content: Buffer, run: (name: string) => void): void {
  if (type === 'B') run(content.toString().split('\0')[1] ?? '')
  if (type === 'Q') run('')
}

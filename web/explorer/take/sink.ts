/** Where a download is written to. */
export interface Sink {
  write(text: string): Promise<void>
  /** Completes the file. */
  close(): Promise<void>
  /** Leaves no file. */
  abort(): Promise<void>
}

/** Most that is kept in memory where the browser cannot write to a file, in characters. */
const MEMORY_LIMIT = 100_000_000

/** The download has become too large for the memory. */
export class TooLarge extends Error {}

/**
 * Asks where to save, where the browser can write to a file as it comes; otherwise keeps it in
 * memory, within a limit, and saves it when it is complete.
 *
 * @returns null: the reader has changed their mind
 */
export async function openSink(name: string, type: string): Promise<Sink | null> {
  const pick = window.showSaveFilePicker
  if (pick === undefined) return memorySink(name, type)
  try {
    const extension = name.slice(name.lastIndexOf('.'))
    const handle = await pick.call(window, {
      suggestedName: name,
      types: [{ description: extension.slice(1).toUpperCase(), accept: { [type]: [extension] } }],
    })
    const file = await handle.createWritable()
    return { write: text => file.write(text), close: () => file.close(), abort: () => file.abort() }
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') return null
    return memorySink(name, type)
  }
}

function memorySink(name: string, type: string): Sink {
  let parts: string[] = []
  let size = 0
  return {
    async write(text) {
      size += text.length
      if (size > MEMORY_LIMIT) throw new TooLarge()
      parts.push(text)
    },
    async close() {
      saveFile(new Blob(parts, { type }), name)
      parts = []
    },
    async abort() {
      parts = []
    },
  }
}

/** Saves a file as the browser saves downloads. */
export function saveFile(file: Blob, name: string): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(file)
  link.download = name
  link.click()
  // The browser has opened it by then.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
}

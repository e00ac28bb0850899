import { useEffect, useState } from 'preact/hooks'

/*
 * Names of outlets and sets, as answers told them: searches have domains, and names of sets in
 * small letters. People read names as they were written.
 */

const NAMES = new Map<string, string>()
const readers = new Set<() => void>()

export function noteOutlet(outlet: { name: string | null; domain: string | null }): void {
  const { name, domain } = outlet
  if (name === null || domain === null || NAMES.get(domain) === name) return
  NAMES.set(domain, name)
  for (const read of readers) read()
}

/** @param entry a domain, or the name of a set, in small letters */
export const outletName = (entry: string): string => NAMES.get(entry) ?? entry

/** Draws a part of the page again when a name becomes known. */
export function useOutletNames(): void {
  const [, draw] = useState(0)
  useEffect(() => {
    const read = () => draw(n => n + 1)
    readers.add(read)
    return () => {
      readers.delete(read)
    }
  }, [])
}

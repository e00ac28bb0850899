import { useCallback, useEffect, useState } from 'preact/hooks'
import { addressOf, isSame, readSearch, type Search } from './search/search.ts'

/**
 * The search that the address bar holds. Each change is a step of the browser's history, so back,
 * forward and sharing work.
 */
export function useSearch(): [Search, (changed: Search) => void] {
  const [search, setSearch] = useState(() => readSearch(new URLSearchParams(location.search)))
  useEffect(() => {
    const look = () => setSearch(readSearch(new URLSearchParams(location.search)))
    addEventListener('popstate', look)
    return () => removeEventListener('popstate', look)
  }, [])
  const change = useCallback((changed: Search) => {
    setSearch(before => {
      if (isSame(before, changed)) return before
      history.pushState(null, '', addressOf(changed))
      return changed
    })
  }, [])
  return [search, change]
}

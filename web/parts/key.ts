const PLACE = 'perscope.key'

/**
 * Takes a key out of the address (`/#key=psk_…`) and keeps it for this tab alone. The fragment is
 * never sent to a server; it leaves the address at once, so that no shared or kept address has it.
 *
 * @returns whether the address had one
 */
export function takeKeyFromAddress(): boolean {
  const fragment = new URLSearchParams(location.hash.slice(1))
  const key = fragment.get('key')?.trim()
  if (!key) return false
  rememberKey(key)
  history.replaceState(history.state, '', location.pathname + location.search)
  return true
}

export const knownKey = (): string => sessionStorage.getItem(PLACE) ?? ''

export function rememberKey(key: string): void {
  sessionStorage.setItem(PLACE, key)
}

export function forgetKey(): void {
  sessionStorage.removeItem(PLACE)
}

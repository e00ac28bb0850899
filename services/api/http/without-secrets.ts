/**
 * A path without secrets: all behind `/feeds/` and `/websub/`, in whatever spelling, and each key
 * or token that somebody wrote into a path.
 */
export const withoutSecrets = (path: string): string =>
  path.replace(/^(\/+(?:feeds|websub)\/).+$/is, '$1…').replace(/ps[a-z]_[\w-]+/gi, '…')

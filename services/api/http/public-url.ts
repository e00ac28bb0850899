import type { Config } from '../../../shared/config/config.ts'

/** Address of the API as its clients write it, without a slash at its end. */
export function publicUrlOf({ PUBLIC_URL, HOST, PORT }: Pick<Config, 'PUBLIC_URL' | 'HOST' | 'PORT'>): string {
  const host = HOST.includes(':') ? `[${HOST}]` : HOST
  return (PUBLIC_URL || `http://${host}:${PORT}`).replace(/\/+$/, '')
}

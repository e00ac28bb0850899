/** One line of the settings table. */
export interface Setting {
  type: 'text' | 'secret' | 'url' | 'urls' | 'list' | 'integer' | 'port' | 'duration' | 'bytes'
  default: string
  /** Of a number. Of a secret: its least length, for one that is sent as a Bearer token. */
  min?: number
  max?: number
  about: string
}

/**
 * The value a setting has once it is read: durations in milliseconds, sizes in bytes, lists without
 * empty elements.
 */
export type SettingValue<T extends Setting['type']> = T extends 'integer' | 'port' | 'duration' | 'bytes'
  ? number
  : T extends 'list' | 'urls'
    ? string[]
    : string

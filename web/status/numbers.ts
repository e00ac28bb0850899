const WHOLE = new Intl.NumberFormat('en-GB')

/** 1234567 as "1.23 M"; below a million in full: "123,456". */
export function number(n: number): string {
  return n < 1_000_000 ? WHOLE.format(n) : `${(n / 1_000_000).toFixed(n < 10_000_000 ? 2 : 1)} M`
}

export const plural = (n: number, one: string, many = `${one}s`) => `${number(n)} ${n === 1 ? one : many}`

/** Bytes in one unit of thousands: "512 B", "1.2 MB". */
export function bytes(n: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB']
  const unit = Math.min(units.length - 1, n < 1 ? 0 : Math.floor(Math.log10(n) / 3))
  return `${short(n / 1_000 ** unit)} ${units[unit]}`
}

/** Seconds in one unit: "40 s", "12 min", "3.5 h", "9 days". */
export function span(seconds: number): string {
  if (seconds < 90) return `${short(seconds)} s`
  if (seconds < 5_400) return `${Math.round(seconds / 60)} min`
  if (seconds < 129_600) return `${short(seconds / 3_600)} h`
  return `${short(seconds / 86_400)} days`
}

const short = (n: number) => (n < 10 ? String(Math.round(n * 10) / 10) : WHOLE.format(Math.round(n)))

/** Time since an instant, on the server's clock. */
export const ago = (instant: string, now: number) => `${span(Math.max(0, (now - Date.parse(instant)) / 1_000))} ago`

/** The hour of an instant in the reader's time zone: "14:00". */
export const clock = (instant: string) => CLOCK.format(new Date(instant))

const CLOCK = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' })

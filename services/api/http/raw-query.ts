/** The query string of an address as it arrived, without `?`. */
export function rawQueryOf(url: string): string {
  const mark = url.indexOf('?')
  return mark < 0 ? '' : url.slice(mark + 1)
}

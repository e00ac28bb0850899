/** A number with its noun in the right form, as `1 feed` and `0 feeds`. */
export function counted(n: number, one: string, many = `${one}s`): string {
  return `${n} ${n === 1 ? one : many}`
}

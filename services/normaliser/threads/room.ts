/** Room for so many at a time; the others wait in the order they came. */
export interface Room {
  enter(): Promise<void>
  leave(): void
}

export function createRoom(places: number): Room {
  let free = places
  const waiting: (() => void)[] = []
  return {
    enter() {
      if (free === 0) return new Promise(resolve => waiting.push(resolve))
      free -= 1
      return Promise.resolve()
    },
    leave() {
      const next = waiting.shift()
      if (next === undefined) free += 1
      else next()
    },
  }
}

/** Something that an operator should look at. */
export interface Problem {
  level: 'bad' | 'warn'
  text: string
}

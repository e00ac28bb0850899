/** Articles of an outlet or author, and the countries that have some. */
export interface NameUse {
  articles: number
  /** Bit n: the country `COUNTRIES[n]`. */
  countries: number
}

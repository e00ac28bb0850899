/** How long ago something was, in the language that browsers do not support. */
export function agoInLuxembourgish(n: number, unit: 'minute' | 'hour' | 'day'): string {
  if (n < 2) return n < 1 ? 'elo grad' : AGO[unit][0]
  return `${virun(n)} ${n} ${AGO[unit][1]}`
}

const AGO = {
  minute: ['virun enger Minutt', 'Minutten'],
  hour: ['virun enger Stonn', 'Stonnen'],
  day: ['gëschter', 'Deeg'],
} as const

/**
 * The n of "virun" is dropped before most consonants (the Eifel rule). The rule looks at the first
 * sound of the number as people say it. The n stays before vowels and before n, d, t, z, h.
 */
function virun(n: number): string {
  const spoken =
    n % 100 < 20 ? SMALL[n % 100] : n % 10 === 0 ? TENS[Math.floor((n % 100) / 10)] : SMALL[n % 10]
  return /[aeiouéënndtzh]/.test(spoken ?? 'n') ? 'virun' : 'viru'
}

/**
 * First letters of the spoken numbers from 0 to 19, and of the tens. Only numbers up to 59 occur.
 */
const SMALL = 'nezdvfssanzezdvfssun'
const TENS = 'nnzdvf'

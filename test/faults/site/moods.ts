import type { Random } from '../random.ts'

/** How a page answers. `…Once`: the first request fails so, all others are answered. */
export type Mood = 'well' | 'slow' | 'errorOnce' | 'resetOnce' | 'cutOnce' | 'silentOnce' | 'moved' | 'refused'

const SHARES: readonly [Mood, number][] = [
  ['slow', 0.04],
  ['errorOnce', 0.04],
  ['resetOnce', 0.02],
  ['cutOnce', 0.03],
  ['silentOnce', 0.01],
  ['moved', 0.03],
  ['refused', 0.02],
]

export function drawMood(random: Random): Mood {
  let drawn = random.next()
  for (const [mood, share] of SHARES) {
    drawn -= share
    if (drawn < 0) return mood
  }
  return 'well'
}

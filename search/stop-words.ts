/* The entry for pages that need the stop words: apart, because they are most of the bytes. */

export { STOP_WORDS } from './analysis/stop-words.ts'

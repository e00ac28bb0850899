/*
 * The entry for pure functions on text: tokens, folding, stems, stop words. They open nothing, so
 * threads that only prepare texts import this alone.
 */

export { foldName, foldWord } from './folding.ts'
export { stem } from './stems.ts'
export { type DocumentWords, indexText, listedStopWords, STOP_WORDS } from './stop-words.ts'
export { hasLetterOrDigit, words } from './tokens.ts'

/*
 * The entry for pure functions on text: tokens, folding, stems, stop words. They open nothing, so
 * threads that only prepare texts import this alone.
 */

export { stem } from './stems.ts'
export { type DocumentWords, indexText, listedStopWords, STOP_WORDS } from './stop-words.ts'
export { foldName, foldWord, hasLetterOrDigit, words } from './tokens.ts'

// What browsers have and TypeScript's own types do not.

interface Window {
  /** Only Chromium has it. In other browsers a download stays in memory until it is complete. */
  showSaveFilePicker?: (options: {
    suggestedName: string
    types: { description: string; accept: Record<string, string[]> }[]
  }) => Promise<FileSystemFileHandle>
}
// esbuild gathers the styles that scripts import.
declare module '*.css'

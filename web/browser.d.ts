// Parts of browsers that TypeScript's own types lack.

interface Window {
  /**
   * Only Chromium has this function. In other browsers a download stays in memory until it is
   * complete.
   */
  showSaveFilePicker?: (options: {
    suggestedName: string
    types: { description: string; accept: Record<string, string[]> }[]
  }) => Promise<FileSystemFileHandle>
}
// esbuild collects the styles that scripts import.
declare module '*.css'

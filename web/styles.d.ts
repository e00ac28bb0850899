// esbuild gathers the styles that scripts import.
declare module '*.css'

import { keepCompiled } from './node.ts'

// package.json loads this file before a command (`--import`), because Node keeps only what it loads
// after the cache is open.
keepCompiled()

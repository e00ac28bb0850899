// `npm test`, `test:all`, `test:long`: install missing packages, then check types and style and run
// the tests.
import { bootstrap } from './bootstrap.mjs'

await bootstrap('test/runner/main.ts')

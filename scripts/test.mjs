// `npm test`, `test:all`, `test:long`: install what is missing, then check types and style and run
// the tests.
import { bootstrap } from './bootstrap.mjs'

await bootstrap('scripts/test/main.ts')

// `npm test`: installs what is missing, then checks types and style and runs the tests.
import { bootstrap } from './bootstrap.mjs'

await bootstrap('scripts/test/main.ts')

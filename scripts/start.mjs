// `npm start`: installs what is missing, then brings up the whole system on this machine.
import { bootstrap } from './bootstrap.mjs'

await bootstrap('scripts/start/main.ts')

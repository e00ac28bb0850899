// `npm start`: installs missing packages, then starts the whole system on this machine.
import { bootstrap } from './bootstrap.mjs'

await bootstrap('scripts/start/main.ts')

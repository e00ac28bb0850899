import type { Scene } from './scene.ts'

/** Does something bad, waits until the system could be well again, and says what it hit. */
export type Fault = (scene: Scene) => Promise<string>

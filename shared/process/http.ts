/**
 * Node's module `http`, without an import of it. An import asks for all its names, of which
 * `WebSocket` loads the whole of Node's `fetch`: 70 ms of processor time at each start
 * (`lib/http.js` of Node).
 */
export const http: typeof import('node:http') = process.getBuiltinModule('node:http')

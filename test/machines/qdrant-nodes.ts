import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { qdrantPackage } from '../../infra/embedded/servers.ts'
import { freePort, until } from '../fleet.ts'

/** A real cluster of Qdrant: nodes at 127.0.0.11, 127.0.0.12 … */
export interface QdrantNodes {
  /** Addresses of the nodes. */
  urls: string[]
  kill(node: number): Promise<void>
  stop(): Promise<void>
}

export async function startQdrantNodes(folder: string, count: number): Promise<QdrantNodes> {
  const program = join(await qdrantPackage(), 'bin', 'qdrant')
  const [http, p2p] = [await freePort(), await freePort()]
  const children: ChildProcess[] = []
  const urls: string[] = []
  for (let node = 0; node < count; node++) {
    const host = `127.0.0.${11 + node}`
    const own = join(folder, `qdrant-${node}`)
    await mkdir(own, { recursive: true })
    const config = join(folder, `qdrant-${node}.yaml`)
    const settings = {
      ...{ log_level: 'WARN', telemetry_disabled: true },
      storage: { storage_path: join(own, 'storage'), snapshots_path: join(own, 'snapshots') },
      service: { host, http_port: http, grpc_port: null, max_workers: 1, enable_static_content: false },
      cluster: { enabled: true, p2p: { port: p2p }, consensus: { tick_period_ms: 100 } },
    }
    await writeFile(config, JSON.stringify(settings))
    const words = ['--config-path', config, '--disable-telemetry', '--uri', `http://${host}:${p2p}`]
    const first = node === 0 ? [] : ['--bootstrap', `http://127.0.0.11:${p2p}`]
    children.push(spawn(program, [...words, ...first], { cwd: own, stdio: 'ignore' }))
    const url = `http://${host}:${http}`
    await until(
      async () => (await fetch(`${url}/readyz`)).ok,
      60_000,
      () => `Qdrant at ${url} did not start`,
    )
    urls.push(url)
  }
  const kill = async (child: ChildProcess | undefined) => {
    if (!child || child.exitCode !== null || child.signalCode !== null) return
    const ended = once(child, 'exit')
    child.kill('SIGKILL')
    await ended
  }
  return {
    urls,
    kill: node => kill(children[node]),
    async stop() {
      for (const child of children) await kill(child)
    },
  }
}

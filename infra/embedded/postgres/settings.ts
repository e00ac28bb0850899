import { totalmem } from 'node:os'

const MB = 1024 * 1024

/** The memory of this machine, or of our container. */
export function machineMemory(): number {
  // Without a limit Node returns 0, or a number beyond any machine.
  const limit = process.constrainedMemory()
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem()
}

/**
 * Settings of the embedded Postgres. They stand on its command line, so that they change with the
 * code.
 *
 * @param throwaway for tests: little memory, and data may be lost in a crash of the machine
 */
export function postgresSettings(port: number, memory: number, throwaway: boolean): Record<string, string | number> {
  const quarter = Math.floor(memory / 4 / MB)
  return {
    port,
    listen_addresses: '127.0.0.1',
    // Clients connect over loopback. A socket file would need a folder that all accounts can enter.
    unix_socket_directories: '',
    max_connections: 300,
    timezone: 'UTC',
    log_timezone: 'UTC',
    // The manual advises a quarter of memory. Beyond 4 GB the cache of the system serves as well.
    shared_buffers: `${throwaway ? 128 : Math.min(Math.max(quarter, 128), 4_096)}MB`,
    effective_cache_size: `${Math.max(quarter * 2, 256)}MB`,
    maintenance_work_mem: `${Math.min(Math.max(Math.floor(quarter / 8), 64), 512)}MB`,
    work_mem: '16MB',
    // Measured (see docs/decisions.md): with the defaults the planner avoids the indexes, and
    // compiling costs more than it saves.
    random_page_cost: 1.1,
    jit: 'off',
    // Room for imports between checkpoints. Replaying 2 GB after a crash takes less than a minute.
    max_wal_size: '2GB',
    min_wal_size: '80MB',
    wal_compression: 'on',
    checkpoint_completion_target: 0.9,
    log_checkpoints: 'off',
    ...(throwaway && { fsync: 'off', full_page_writes: 'off', synchronous_commit: 'off' }),
  }
}

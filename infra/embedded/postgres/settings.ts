import { totalmem } from 'node:os'

const MB = 1024 * 1024

/** The memory that this machine, or the container we are in, has. */
export function machineMemory(): number {
  // Without a limit the constraint is 0 or a number beyond any machine.
  const limit = process.constrainedMemory()
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem()
}

/**
 * Settings of the embedded Postgres, given on its command line so that they change with the code.
 *
 * @param throwaway for tests: no word of a crash of the machine, and little memory
 */
export function postgresSettings(port: number, memory: number, throwaway: boolean): Record<string, string | number> {
  const quarter = Math.floor(memory / 4 / MB)
  return {
    port,
    listen_addresses: '127.0.0.1',
    // Addresses are loopback's; a socket file would have to lie where every account may enter.
    unix_socket_directories: '',
    max_connections: 300,
    timezone: 'UTC',
    log_timezone: 'UTC',
    // A quarter of memory is the manual's advice; beyond 4 GB the system's cache serves this work
    // as well.
    shared_buffers: `${throwaway ? 128 : Math.min(Math.max(quarter, 128), 4_096)}MB`,
    effective_cache_size: `${Math.max(quarter * 2, 256)}MB`,
    maintenance_work_mem: `${Math.min(Math.max(Math.floor(quarter / 8), 64), 512)}MB`,
    work_mem: '16MB',
    // Measured (see docs/decisions.md): with the defaults the planner shuns the indexes, and
    // compiling costs more than it saves.
    random_page_cost: 1.1,
    jit: 'off',
    // Room for imports between checkpoints; 2 GB are replayed in well under a minute after a crash.
    max_wal_size: '2GB',
    min_wal_size: '80MB',
    wal_compression: 'on',
    checkpoint_completion_target: 0.9,
    log_checkpoints: 'off',
    ...(throwaway && { fsync: 'off', full_page_writes: 'off', synchronous_commit: 'off' }),
  }
}

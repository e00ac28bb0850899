/**
 * The accounts that parts run under when root starts them, user and group alike. The numbers have
 * no entry in any table of users: they own nothing, nobody can log in with them, and they need not
 * be created. No system hands out ids from 65520 to 65533 (https://systemd.io/UIDS-GIDS/), and a
 * container has them too.
 */
export const ACCOUNTS = { services: 65_520, qdrant: 65_521, model: 65_522 } as const

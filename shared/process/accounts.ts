/**
 * The accounts that parts run under when root starts them, user and group alike. Numbers without an
 * entry in any table of users: they own nothing, nobody can log in as one, and no tool is needed to
 * make them. No system hands out ids from 65520 to 65533 (https://systemd.io/UIDS-GIDS/), and a
 * container has them too.
 */
export const ACCOUNTS = { services: 65_520, qdrant: 65_521, model: 65_522 } as const

-- Keys, plans and what has been used of them.

create table api_keys (
  id            text primary key,
  key_hash      bytea not null unique,       -- SHA-256 of the key; the key itself is shown once
  name          text not null,
  countries     text[] not null,
  history_start timestamptz(3),              -- a fixed start …
  history_days  int,                         -- … or so many days back
  rate          int not null check (rate > 0),
  quota         int check (quota >= 0),
  created_at    timestamptz(3) not null default now(),
  updated_at    timestamptz(3) not null default now(),
  revoked_at    timestamptz(3),
  check ((history_start is null) <> (history_days is null))
);

-- The minute that each key is in: it begins with the first request after the last one ended. A
-- crash of the server loses it, and every key begins a new minute. One row a key, rewritten in place.
create unlogged table rate_windows (
  key_id     text primary key,
  started_at timestamptz not null,
  used       int not null,
  allowed    boolean not null                -- what the last request was told
) with (fillfactor = 50);

create table quota_months (
  key_id text not null references api_keys,
  month  date not null,
  used   int not null,
  primary key (key_id, month)
);

-- Invalid keys by address (decision 3).
create unlogged table auth_failures (
  address      text primary key,             -- IPv4, or the /56 of an IPv6
  failed_at    timestamptz[] not null,       -- those that still count; at most as many as lock
  locked_until timestamptz(3),
  was_locked   boolean not null,             -- when the last attempt came
  seen_at      timestamptz(3) not null
);
create index auth_failures_seen on auth_failures (seen_at);

-- Secrets that all API processes share and keep across restarts.
create table secrets (
  name  text primary key,
  value bytea not null
);

-- Tells backups of this installation from those of others.
create table installation (
  one boolean primary key default true check (one),
  id  uuid not null default gen_random_uuid()
);
insert into installation default values;

-- Searches as feeds for readers that cannot send a key: each has a secret address of its own.
create table search_feeds (
  feed_id      text primary key,
  key_id       text not null references api_keys,
  token_hash   bytea not null unique,        -- SHA-256 of the token in the address
  nonce        bytea not null,               -- the token is made of it and of the secret `feeds`
  search       text not null,                -- query string in its one spelling
  title        text not null,
  created_at   timestamptz(3) not null default now(),
  revoked_at   timestamptz(3),
  last_used_at timestamptz(3),
  requests     bigint not null default 0
) with (fillfactor = 70);                    -- updated with every request, in place
create index search_feeds_key on search_feeds (key_id, created_at);

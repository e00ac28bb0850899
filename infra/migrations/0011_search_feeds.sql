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

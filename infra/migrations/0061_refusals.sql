-- Who refused mail, for good and apart from keys (shared/desk/alerts/refusals.ts).
create table refusals (
  hash       bytea not null,                  -- HMAC-SHA-256 of the address in small letters
  key_id     text not null,                   -- whose searches are refused; the key may be gone
  everything boolean not null default false,  -- all mail from here is refused
  links      bytea[] not null default '{}',   -- SHA-256 of the links that refused: they take it back
  refused_at timestamptz(3) not null default now(),
  primary key (hash, key_id)
);
create index refusals_links on refusals using gin (links);

-- Articles that an operator took out for good (search/store/tombstones.ts).

-- What stays of such an article. It is no article: nothing here says what it was about.
create table tombstones (
  number      bigint primary key,           -- in the order of commits, from `ingest_clock.last_removal`
  seq         bigint not null unique,       -- the number that the article had; no other gets it
  id          text collate "C" not null unique,
  country     text not null,
  covered_at  timestamptz(3),               -- the time by which plans cover it
  removed_at  timestamptz(3) not null,
  reason      text not null,                -- shown to operators alone
  released_at timestamptz(3),               -- its addresses are free again
  cleared_at  timestamptz(3)                -- the pass has found nothing of it in any store
);
create index tombstones_uncleared on tombstones (number) where cleared_at is null;

-- HMAC-SHA-256 of its addresses: a plain hash of an address can be guessed.
create table tombstone_addresses (
  hash bytea primary key,
  seq  bigint not null
);
create index tombstone_addresses_seq on tombstone_addresses (seq);

-- The two blocks of the key of that HMAC.
create table tombstone_key (
  one       boolean primary key default true check (one),
  inner_pad bytea not null,
  outer_pad bytea not null
);
with drawn as materialized (
  select string_agg(uuid_send(gen_random_uuid()), '') as key from generate_series(1, 8)
), digest as materialized (
  select sha256(substr(key, 1, 64)) || sha256(substr(key, 65)) as key from drawn
)
insert into tombstone_key (inner_pad, outer_pad)
select string_agg(set_byte('\x00', 0, get_byte(key, at) # 54), '' order by at),
       string_agg(set_byte('\x00', 0, get_byte(key, at) # 92), '' order by at)
  from digest, generate_series(0, 63) as at;

alter table ingest_clock add column last_removal bigint not null default 0;

-- The words of articles with removals up to this number are not in its bytes.
alter table segments add column cleared bigint not null default 0;
alter table segments_ahead add column cleared bigint not null default 0;

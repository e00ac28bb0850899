-- Searches that keys keep (shared/plans/kept-searches.ts). A feed hangs on one.
create table kept_searches (
  search_id  text primary key,
  key_id     text not null references api_keys,
  name       text not null,
  search     text not null,                  -- query string in its one spelling
  position   int not null,
  of_feed    boolean not null default false, -- its feed brought it, and nobody has changed it since
  created_at timestamptz(3) not null default now()
);
create index kept_searches_key on kept_searches (key_id, position);

-- Null: a process of an older version made the feed, or it has ended.
alter table search_feeds add column search_id text references kept_searches on delete set null;
create unique index search_feeds_search on search_feeds (search_id) where revoked_at is null;

-- Searches that are cited (shared/plans/citations.ts). A row never changes, and outlives its key.
create table citations (
  digest    bytea primary key,                -- docs/citations.md; the address of the citation
  key_id    text not null references api_keys, -- that cited it first
  search    text not null,                    -- query string in its one spelling
  countries text[] not null,                  -- the plan of that key, as it was then
  since     timestamptz(3) not null,
  watermark bigint not null,                  -- of the newest article that was searched
  as_of     timestamptz(3) not null,          -- the stamp of that moment: later articles have later ones
  rules     int not null,                     -- version of the rules of words
  model     text,                             -- of a search by meaning
  bias      text,
  cited_at  timestamptz(3) not null default now(),
  articles  int not null,
  seqs      bigint[] not null,                -- in order
  marks     int[] not null                    -- of each article's line: the first four bytes of its SHA-256
);
create index citations_key on citations (key_id);

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

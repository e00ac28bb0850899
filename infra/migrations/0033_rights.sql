-- What outlets reserve in ways that machines read (shared/outlets/rights.ts).

-- The signals of each outlet, with the first and the last time they were seen.
create table outlet_rights (
  outlet_no int not null references outlets on delete cascade,
  signal    text not null,                         -- `noindex`, `max-snippet` …
  source    text not null,                         -- header, meta …
  pages     int not null default 1,
  first_at  timestamptz(3) not null default now(),
  last_at   timestamptz(3) not null default now(),
  value     text,                                  -- the latest, of a signal with many values
  primary key (outlet_no, signal, source)
);

-- Articles of which less may be shown than of others. Few; what is not here has no bounds.
create table article_rights (
  id      text collate "C" primary key,            -- of the article
  snippet boolean not null,                        -- true: its snippet is what its outlet allows, and stays so
  vector  boolean not null default true,           -- false: words find it, meaning does not
  page_no bigint                                   -- as in `embeddings`, where it has no row then
);

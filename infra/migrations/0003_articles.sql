-- Articles. See docs/architecture.md, "How a query finds its articles".

-- One row. Whoever makes articles visible holds its lock from the stamp to the commit, so that the order of
-- stamps is the order of locks is the order of visibility (decision 23). `last_seq` numbers every article in
-- that same order; what a reader sees of it is the watermark of a pagination sequence (decision 22).
create table ingest_clock (
  one      boolean primary key default true check (one),
  last_at  timestamptz(3) not null default 'epoch',
  last_seq bigint not null default 0
);
insert into ingest_clock default values;

-- An outlet as stamped on articles: a name once printed stays (decision 24). `outlet` is the identity
-- under which addresses are one article's: the domain, or `name:…` when an archive brings none.
create table publishers (
  publisher_no  int generated always as identity primary key,
  outlet        text collate "C" not null,
  name          text,
  domain        text,
  folded_name   text not null,                -- case and accents removed, for `outlet=`
  folded_domain text not null,
  unique nulls not distinct (outlet, name)
);

create table authors (
  author_no   int generated always as identity primary key,
  id          text collate "C" not null unique,  -- derived from outlet and name (decision 35)
  outlet      text collate "C" not null,
  name        text not null,
  folded_name text not null
);

-- Parts of names, for `author=`. Authors are many; outlets are few enough to be read through.
create extension if not exists pg_trgm;
create index authors_folded_name on authors using gin (folded_name gin_trgm_ops) with (fastupdate = off);

-- Identity. Inserted in sorted order before the clock is taken, so that two writers with the same article
-- wait for one another here and never while one of them holds the clock.
create table article_addresses (
  outlet  text collate "C" not null,
  address text collate "C" not null,
  id      text collate "C" not null,
  primary key (outlet, address)
);

-- Ids that are taken; `articles` is partitioned and cannot keep them unique itself.
create table article_ids (
  id text collate "C" primary key
);

-- One row an article; narrow. Partitioned by the order of ingestion: only the newest partition is ever written, null and
-- old dates need nothing special, and an old partition never changes.
create table articles (
  seq          bigint not null,
  id           text collate "C" not null,
  published_at timestamptz(3),
  ingested_at  timestamptz(3),
  publisher_no int not null,
  author_nos   int[] not null,
  country      text not null,
  language     text not null,
  primary key (seq)
) partition by range (seq);

create table articles_p0 partition of articles for values from (0) to (4194304);

-- The newest articles once more, with their full text: a new article is found here as soon as its transaction has
-- committed. Some thousands at a time move on into a segment (below); their rows go when no search can need them any more.
create table fresh_articles (
  seq          bigint primary key,
  id           text collate "C" not null,
  published_at timestamptz(3),
  ingested_at  timestamptz(3),
  publisher_no int not null,
  author_nos   int[] not null,
  country      text not null,
  language     text not null,
  limits       smallint not null default 0,  -- 1: positions in `terms` are incomplete, 2: all words are missing; see article_words
  terms        tsvector not null             -- words, stems, filters, days (search/terms.ts)
);

alter table fresh_articles alter column terms set storage external;
alter table fresh_articles alter column terms set statistics 0; -- ANALYZE of it takes long and nobody reads it

-- Entries of new articles wait in the pending list, so that whoever holds the clock is done in milliseconds; the writer
-- merged them right after its commit. The list may grow to 64 MB before a commit
-- has to merge it itself.
create index fresh_articles_terms on fresh_articles using gin (terms) with (fastupdate = on, gin_pending_list_limit = 65536);

-- The words of every article as the tokenizer reads them: what an index leaves open (a phrase, mostly) is looked up here,
-- and segments are made from it. Each list is \n word \n word … \n, so that a phrase is in it when its own list is a
-- part of it. Kept in the row, not beside it: one look-up each.
create table article_words (
  seq         bigint primary key,
  title       text not null,
  body        text not null,
  title_stems text,                          -- of articles with `limits`, while they are fresh
  body_stems  text
) with (toast_tuple_target = 8160);

-- An index of words over a range of articles that never changes: made once, by whoever writes articles, some thousands
-- at a time, later made anew of several (search/segment).
create table segments (
  segment_no  int generated always as identity primary key,
  first_seq   bigint not null,
  last_seq    bigint not null,
  bucket_bits smallint not null,
  -- What the articles span, null where none has a date: most searches need few segments.
  first_published timestamptz(3),
  last_published  timestamptz(3),
  first_ingested  timestamptz(3),
  last_ingested   timestamptz(3),
  undated     int not null,                  -- articles without a date of publication
  columns     bytea not null,                -- search/segment/columns.ts
  sealed_at   timestamptz(3) not null default now(),
  -- Every article is in one segment at most, whatever goes wrong.
  exclude using gist (int8range(first_seq, last_seq, '[]') with &&)
);
alter table segments alter column columns set storage external;

-- The dictionaries of segments by hash (search/segment/postings.ts).
create table segment_buckets (
  segment_no int not null,
  bucket     int not null,
  block      bytea not null,
  primary key (segment_no, bucket)
) with (toast_tuple_target = 8160);
alter table segment_buckets alter column block set storage external; -- it is dense already

-- Changes with every change of `segments`, so that searches know when to read them again.
create table segments_version (
  one     boolean primary key default true check (one),
  version bigint not null default 0
);
insert into segments_version default values;

-- Articles by day (UTC) of publication and of ingestion, counted in the transaction that makes them visible.
-- Searches choose their stretches of time by it.
create table article_days (
  axis     text not null check (axis in ('published_at', 'ingested_at')),
  day      date not null,
  articles bigint not null,
  primary key (axis, day)
) with (fillfactor = 50); -- today's row is updated with every batch

-- What is shown, embedded and exported.
create table article_texts (
  seq     bigint primary key,
  title   text not null,
  url     text not null,
  snippet text,
  body    text
);

-- The promise of an embedding, made in the article's own transaction.
create table embeddings (
  seq           bigint primary key,
  due_at        timestamptz(3) not null,
  claimed_until timestamptz(3),             -- in a work queue, in hand, or waiting to be tried again
  embedded_at   timestamptz(3),             -- its vector is in every collection of `vector_collections`
  attempts      int not null default 0,     -- refused so often; an outage does not count
  failed_at     timestamptz(3),             -- quarantined: refused again and again
  error         text
);
create index embeddings_due on embeddings (due_at) where embedded_at is null and failed_at is null;
create index embeddings_failed on embeddings (failed_at) where failed_at is not null;

-- Collections of the vector store. One serves; one may be filled beside it to take its place (`npm run reembed`); what
-- has had its time is removed by an embedder.
create table vector_collections (
  name          text primary key,           -- in the vector store
  state         text not null check (state in ('serving', 'filling', 'retired')),
  model         text not null,
  recipe        int not null,               -- what of an article is embedded, and how (shared/embeddings/recipe.ts)
  dimensions    int not null,
  api           text,                       -- endpoint of the model; null: as EMBEDDINGS_API and EMBEDDINGS_URL say
  url           text,
  filled_to     bigint not null default 0,  -- articles up to here that were embedded before it have their vector in it too
  registered_at timestamptz(3) not null default clock_timestamp(),
  changed_at    timestamptz(3) not null default clock_timestamp() -- of its state
);
create unique index vector_collections_one on vector_collections (state) where state <> 'retired';

-- Articles: their order, their identity, and what is shown of them.

-- One row. Whoever makes articles visible holds its lock from the stamp to the commit, so that the
-- order of stamps is the order of locks is the order of visibility (decision 23). `last_seq` numbers
-- every article in that same order.
create table ingest_clock (
  one      boolean primary key default true check (one),
  last_at  timestamptz(3) not null default 'epoch',
  last_seq bigint not null default 0
);
insert into ingest_clock default values;

-- An outlet as stamped on articles: a name once printed stays (decision 24). `outlet` is the
-- identity under which addresses are one article's: the domain, or `name:…` when an archive brings
-- none.
create table publishers (
  publisher_no  int generated always as identity primary key,
  outlet        text collate "C" not null,
  name          text,
  domain        text,
  folded_name   text not null,                -- case and accents removed, for `outlet=`
  folded_domain text not null,
  unique nulls not distinct (outlet, name)
);

-- Parts of names are looked up in memory (search/memory).
create table authors (
  author_no   int generated always as identity primary key,
  id          text collate "C" not null unique, -- derived from outlet and name (decision 35)
  outlet      text collate "C" not null,
  name        text not null,
  folded_name text not null
);

-- Identity. Inserted in sorted order before the clock is taken, so that two writers with the same
-- article wait for one another here and never while one of them holds the clock.
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

-- One row an article; narrow. Partitioned by the order of ingestion: only the newest partition is
-- ever written, null and old dates need nothing special, and an old partition never changes.
-- Each partition has a primary key of its own, because pg_restore --clean cannot drop one that is
-- inherited.
create table articles (
  seq          bigint not null,
  id           text collate "C" not null,
  published_at timestamptz(3),
  ingested_at  timestamptz(3),
  publisher_no int not null,
  author_nos   int[] not null,
  country      text not null,
  language     text not null
) partition by range (seq);

create table articles_p0 partition of articles (primary key (seq)) for values from (0) to (4194304);

-- The words of every article as the tokenizer reads them: what an index leaves open (a phrase,
-- mostly) is looked up here, and segments are made from it. The newest articles, which no segment
-- holds yet, are searched in the memory of the processes that read them here. Each list is
-- \n word \n word … \n, so that a phrase is in it when its own list is a part of it. Kept in the
-- row, not beside it: one look-up each.
create table article_words (
  seq   bigint primary key,
  title text not null,
  body  text not null
) with (toast_tuple_target = 8160);

-- What is shown, embedded and exported.
create table article_texts (
  seq     bigint primary key,
  title   text not null,
  url     text not null,
  snippet text,
  body    text
);

-- Articles by day (UTC) of publication and of ingestion, counted in the transaction that makes them
-- visible. Searches choose their stretches of time by it.
create table article_days (
  axis     text not null check (axis in ('published_at', 'ingested_at')),
  day      date not null,
  articles bigint not null,
  primary key (axis, day)
) with (fillfactor = 50);                     -- today's row is updated with every batch

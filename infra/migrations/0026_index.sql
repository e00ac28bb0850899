-- The index of words.

-- An index of words over a range of articles that never changes: made once, by whoever writes
-- articles, some thousands at a time, later made anew of several (search/segment).
create table segments (
  segment_no      int generated always as identity primary key,
  first_seq       bigint not null,
  last_seq        bigint not null,
  bucket_bits     smallint not null,
  -- What the articles span, null where none has a date: most searches need few segments.
  first_published timestamptz(3),
  last_published  timestamptz(3),
  first_ingested  timestamptz(3),
  last_ingested   timestamptz(3),
  undated         int not null,               -- articles without a date of publication
  columns         bytea not null,             -- search/segment/columns.ts
  sealed_at       timestamptz(3) not null default now(),
  -- Every article is in one segment at most, whatever goes wrong.
  exclude using gist (int8range(first_seq, last_seq, '[]') with &&)
);
alter table segments alter column columns set storage external;

-- Segments that are stored and not used yet. Processes that search read them ahead, so that no
-- search waits for a segment that is new. Their buckets are in segment_buckets, under numbers of
-- `segments`.
create table segments_ahead (
  segment_no      int primary key,
  kind            text not null check (kind in ('flush', 'merge', 'import')),
  stored_at       timestamptz(3) not null default now(), -- an import that stores none for long was killed
  first_seq       bigint not null,
  last_seq        bigint not null,
  bucket_bits     smallint not null,
  first_published timestamptz(3),
  last_published  timestamptz(3),
  first_ingested  timestamptz(3),
  last_ingested   timestamptz(3),
  undated         int not null,
  columns         bytea not null
);
alter table segments_ahead alter column columns set storage external;

-- The dictionaries of segments by hash (search/segment/postings.ts).
create table segment_buckets (
  segment_no int not null,
  bucket     int not null,
  block      bytea not null,
  primary key (segment_no, bucket)
) with (toast_tuple_target = 8160);
alter table segment_buckets alter column block set storage external; -- it is dense already

create table segments_version (
  one           boolean primary key default true check (one),
  version       bigint not null default 0,    -- grows with every change of `segments`: searches read them again
  words_version bigint not null default 0,    -- grows when words of articles without a segment were made anew
  released_to   bigint not null default 0     -- up to here the archive index alone has the articles
);
insert into segments_version default values;

-- The archive index in OpenSearch (search/archive). An index holds the articles of a range of `seq`.
-- Postgres says which indices there are and how far each is searchable.
create table archive_indices (
  name            text primary key,           -- never used twice
  first_seq       bigint not null,
  last_seq        bigint not null,            -- the end of its range
  filled_to       bigint not null,            -- articles up to here were counted in it after a refresh
  state           text not null check (state in ('building', 'serving', 'retired')),
  analysis        int not null,               -- version of its documents; another one is built anew
  -- What the articles up to `filled_to` span, null where none has a date.
  first_published timestamptz(3),
  last_published  timestamptz(3),
  first_ingested  timestamptz(3),
  last_ingested   timestamptz(3),
  undated         bigint not null default 0
);
create unique index archive_indices_serving on archive_indices (first_seq) where state = 'serving';

-- How far a `npm run reindex` is: the same command goes on there after it was interrupted. A row
-- goes when its run is complete.
create table reindex_runs (
  selection  text primary key,                -- what is made anew (scripts/reindex/run.ts)
  started_at timestamptz(3) not null default clock_timestamp(),
  last_seq   bigint not null,                 -- of the newest article at the start: later ones were indexed by the new code
  done_to    bigint not null default 0        -- articles up to here are done
);

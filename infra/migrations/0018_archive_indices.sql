-- The archive index in OpenSearch (search/archive). An index holds the articles of a range of `seq`. Postgres says which indices
-- there are and how far each is searchable: a search never asks OpenSearch for that.
create table archive_indices (
  name            text primary key,                      -- never used twice
  first_seq       bigint not null,
  last_seq        bigint not null,                       -- the end of its range
  filled_to       bigint not null,                       -- articles up to here were counted in it after a refresh
  state           text not null check (state in ('building', 'serving', 'retired')),
  analysis        int not null,                          -- version of its documents; another one is built anew
  -- What the articles up to `filled_to` span, null where none has a date.
  first_published timestamptz(3),
  last_published  timestamptz(3),
  first_ingested  timestamptz(3),
  last_ingested   timestamptz(3),
  undated         bigint not null default 0
);
create unique index archive_indices_serving on archive_indices (first_seq) where state = 'serving';

-- Articles up to here have no segment any more: the archive index alone has them (`npm run reindex -- --archive --release`).
alter table segments_version add column released_to bigint not null default 0;

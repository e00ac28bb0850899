-- Where the fields of each article came from, and how often each source named a field of an outlet's articles.

-- Two characters a field (shared/origins/origins.ts); null: no article of its own came of the page, or an older version made it.
alter table pages add column if not exists origins text;

create table outlet_origins (
  outlet_no int not null references outlets on delete cascade,
  day       date not null,                               -- UTC, of the indexing
  field     text not null,
  source    text not null,
  articles  int not null,
  primary key (outlet_no, day, field, source)
) with (fillfactor = 50); -- updated with every batch of articles, in place

-- Which articles are copies of one another (shared/copies).

-- One row for every article that the pass has seen. What is null below is so for articles of which
-- nothing is said: they are too short, have no time, or are reserved.
create table copy_sketches (
  seq       bigint primary key,
  id        text collate "C" not null,
  day       int,                              -- days since 1970 (UTC) of its time
  shingles  int,                              -- distinct ones
  sample    bytea,                            -- of their hashes (shared/copies/shingles.ts)
  first_seq bigint                            -- the first article of its group; its own number: it is the first
);
alter table copy_sketches alter column sample set storage external; -- hashes do not compress
create index copy_sketches_id on copy_sketches using hash (id);
create index copy_sketches_day on copy_sketches (day, seq) where first_seq is not null;
create index copy_sketches_group on copy_sketches (first_seq) where first_seq is not null;
-- Counts of texts follow the groups (shared/copies/text-groups.ts).
create index copy_sketches_members on copy_sketches (seq) include (first_seq) where first_seq <> seq;

-- Articles whose group is to be found again.
create table copies_due (
  seq bigint primary key
);

create table copies_state (
  one     boolean primary key default true check (one),
  rules   int not null default 0,             -- version of the rules by which the groups were made
  seq     bigint not null default 0,          -- articles up to here have a row
  version bigint not null default 0,          -- grows with every change: whoever read another one begins again
  changed bigint not null default 0           -- the version that last changed groups of articles up to seq
);
insert into copies_state default values;

-- News agencies that an article names as its source (shared/articles/agencies.ts); null: none.
alter table article_texts add column agencies text[];

-- The schema of migration 0028 back to that of 0022, the last of the former files: what differs
-- between the two, statement for statement against `takeover-of-0022.sql`.
create table fresh_articles (
  seq          bigint primary key,
  id           text collate "C" not null,
  published_at timestamptz(3),
  ingested_at  timestamptz(3),
  terms        tsvector not null
);
create index fresh_articles_terms on fresh_articles using gin (terms) with (fastupdate = on, gin_pending_list_limit = 65536);
alter table article_words add column title_stems text, add column body_stems text;
create extension if not exists pg_trgm;

alter table segments_ahead drop column stored_at, drop constraint segments_ahead_kind_check;
alter table segments_ahead add constraint segments_ahead_kind_check check (kind in ('flush', 'merge'));

alter table ingest_clock
  add column hidden_after bigint,
  add column hidden_mark  bigint,
  add column hidden_until timestamptz(3),
  add column shown_seq    bigint not null generated always as (coalesce(hidden_after, last_seq)) stored;

-- Of tables that are dropped whole, what holds them to others.
create table page_looks (page_no bigint primary key references pages on delete cascade, look_at timestamptz(3));
create table look_sources (page_no bigint primary key references page_looks on delete cascade, body bytea not null);
create table feed_archives (feed_no int not null references feeds on delete cascade, url text not null);
create table websub_subscriptions (feed_no int primary key references feeds on delete cascade, hub text not null);
alter table pages add column modified timestamptz(3), add column retitled bytea, add column hinted_at timestamptz(3);
alter table page_sources add column etag text, add column last_modified text, add column digest bytea;
drop index outlets_hosts, pages_refused;
alter table outlets drop column hosts;
alter table hosts rename column visited_for to called_for;
alter table hosts rename column permit to turn;
alter table hosts
  add column called_until timestamptz(3) not null default 'epoch',
  add column looking boolean not null default false;
alter table feeds drop column open_gap_from, drop column open_gap_to, drop column older_tries;

drop table installation;
alter table articles_p0 drop constraint articles_p0_pkey;
alter table articles add primary key (seq);

create table migrations (number int primary key, name text not null, applied_at timestamptz not null default now());
insert into migrations (number, name) select number, 'a former file' from generate_series(1, 22) number;

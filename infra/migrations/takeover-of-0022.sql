-- Brings a database of migration 0022, the last of the former files, to the schema of the numbered
-- files beside it, in one transaction. What has no use any more is dropped here, table by table.
-- Processes of the former version cannot work beside it.

-- Newest articles with an index of their own: searched in memory instead.
drop table fresh_articles;
alter table article_words drop column title_stems, drop column body_stems;
-- Served an index on names of authors that is gone.
drop extension if exists pg_trgm;

-- Imports store segments before their articles have numbers.
alter table segments_ahead drop constraint segments_ahead_kind_check;
alter table segments_ahead
  add column stored_at timestamptz(3) not null default now(),
  add constraint segments_ahead_kind_check check (kind in ('flush', 'merge', 'import'));

-- Articles of an import that were written and not shown yet.
alter table ingest_clock drop column shown_seq, drop column hidden_after, drop column hidden_mark, drop column hidden_until;

-- Looks at changed pages, subscriptions to hubs, archives of feeds, and messages of the crawler to
-- itself.
drop table look_sources, page_looks, websub_subscriptions, feed_archives;
alter table pages drop column modified, drop column retitled, drop column hinted_at;
alter table page_sources drop column etag, drop column last_modified, drop column digest;
alter table outlets add column hosts text[] not null default '{}';
create index outlets_hosts on outlets using gin (hosts);
create index pages_refused on pages (finished_at, outlet_no) where state = 'refused';
alter table hosts drop column called_until, drop column looking;
alter table hosts rename column called_for to visited_for;
alter table hosts rename column turn to permit;
alter table feeds
  add column open_gap_from timestamptz(3),
  add column open_gap_to timestamptz(3),
  add column older_tries int not null default 0;

-- Tells backups of this installation from those of others.
create table installation (
  one boolean primary key default true check (one),
  id  uuid not null default gen_random_uuid()
);
insert into installation default values;

-- A primary key that partitions inherit cannot be dropped by pg_restore --clean.
alter table articles drop constraint articles_pkey;
do $$
declare partition regclass;
begin
  for partition in select inhrelid from pg_inherits where inhparent = 'articles'::regclass loop
    execute format('alter table %s add primary key (seq)', partition);
  end loop;
end $$;


-- The schema of migration 0022, the last of the former numbered files, as those files made it.
create table outlets (
  outlet_no   int generated always as identity primary key,
  domain      text not null unique,
  name        text not null,
  country     text not null check (country in ('NL', 'BE', 'LU')),
  languages   text[] not null,
  time_zone   text not null,
  active      boolean not null default true,
  created_at  timestamptz(3) not null default now()
);
create table feeds (
  feed_no         int generated always as identity primary key,
  outlet_no       int not null references outlets,
  url             text not null,
  kind            text not null check (kind in ('feed', 'sitemap')),
  active          boolean not null default true,
  host            text not null,
  etag            text,
  last_modified   text,
  next_poll_at    timestamptz(3) not null default now(),
  poll_interval   int not null default 0,
  last_polled_at  timestamptz(3),
  last_success_at timestamptz(3),
  last_new_at     timestamptz(3),
  rhythm          int,
  failures        int not null default 0,
  last_error      text,
  unique (outlet_no, url)
);
create index feeds_due on feeds (host, next_poll_at) where active;
create table sitemap_parts (
  feed_no       int not null references feeds on delete cascade,
  url           text not null,
  modified      text,
  etag          text,
  last_modified text,
  read_at       timestamptz(3) not null,
  primary key (feed_no, url)
);
create table outlet_blocks (
  outlet_no int not null references outlets on delete cascade,
  kind      text not null,
  pages     int not null default 1,
  last_at   timestamptz(3) not null default now(),
  primary key (outlet_no, kind)
);
create table hosts (
  host           text primary key,
  free_at        timestamptz(3) not null default 'epoch',
  turn           uuid,
  leased_until   timestamptz(3) not null default 'epoch',
  holder         uuid,
  visits         int not null default 0,
  called_until   timestamptz(3) not null default 'epoch',
  crawl_delay    int,
  robots         text,
  robots_until   timestamptz(3) not null default 'epoch',
  robots_blocked boolean not null default false,
  robots_failures int not null default 0,
  failures       int not null default 0,
  last_error     text
) with (fillfactor = 50);
create table pages (
  page_no        bigint generated always as identity primary key,
  outlet_no      int not null references outlets,
  feed_no        int references feeds,
  url            text not null,
  crawl_key      text collate "C" not null,
  host           text not null,
  entry          jsonb,
  state          text not null default 'waiting'
                 check (state in ('waiting', 'stored', 'done', 'refused', 'failed')),
  reason         text,
  detail         text,
  attempts       int not null default 0,
  next_try_at    timestamptz(3) not null default now(),
  discovered_at  timestamptz(3) not null default now(),
  first_tried_at timestamptz(3),
  finished_at    timestamptz(3),
  unique (outlet_no, crawl_key)
);
create index pages_waiting on pages (host, next_try_at) where state = 'waiting';
create index pages_stored on pages (next_try_at) where state = 'stored';
create index pages_failed on pages (finished_at) where state = 'failed';
create table page_sources (
  page_no      bigint primary key references pages on delete cascade,
  final_url    text not null,
  status       int not null,
  content_type text,
  body         bytea,
  fetched_at   timestamptz(3) not null
);
alter table page_sources alter column body set storage external;
create index page_sources_fetched on page_sources (fetched_at);
create table served_texts (
  outlet_no    int not null references outlets,
  fingerprint  bytea not null,
  pages        int not null default 1,
  last_seen_at timestamptz(3) not null default now(),
  primary key (outlet_no, fingerprint)
);
create table ingest_clock (
  one      boolean primary key default true check (one),
  last_at  timestamptz(3) not null default 'epoch',
  last_seq bigint not null default 0
);
insert into ingest_clock default values;
create table publishers (
  publisher_no  int generated always as identity primary key,
  outlet        text collate "C" not null,
  name          text,
  domain        text,
  folded_name   text not null,
  folded_domain text not null,
  unique nulls not distinct (outlet, name)
);
create table authors (
  author_no   int generated always as identity primary key,
  id          text collate "C" not null unique,
  outlet      text collate "C" not null,
  name        text not null,
  folded_name text not null
);
create extension if not exists pg_trgm;
create index authors_folded_name on authors using gin (folded_name gin_trgm_ops) with (fastupdate = off);
create table article_addresses (
  outlet  text collate "C" not null,
  address text collate "C" not null,
  id      text collate "C" not null,
  primary key (outlet, address)
);
create table article_ids (
  id text collate "C" primary key
);
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
create table fresh_articles (
  seq          bigint primary key,
  id           text collate "C" not null,
  published_at timestamptz(3),
  ingested_at  timestamptz(3),
  publisher_no int not null,
  author_nos   int[] not null,
  country      text not null,
  language     text not null,
  limits       smallint not null default 0,
  terms        tsvector not null
);
alter table fresh_articles alter column terms set storage external;
alter table fresh_articles alter column terms set statistics 0;
create index fresh_articles_terms on fresh_articles using gin (terms) with (fastupdate = on, gin_pending_list_limit = 65536);
create table article_words (
  seq         bigint primary key,
  title       text not null,
  body        text not null,
  title_stems text,
  body_stems  text
) with (toast_tuple_target = 8160);
create table segments (
  segment_no  int generated always as identity primary key,
  first_seq   bigint not null,
  last_seq    bigint not null,
  bucket_bits smallint not null,
  first_published timestamptz(3),
  last_published  timestamptz(3),
  first_ingested  timestamptz(3),
  last_ingested   timestamptz(3),
  undated     int not null,
  columns     bytea not null,
  sealed_at   timestamptz(3) not null default now(),
  exclude using gist (int8range(first_seq, last_seq, '[]') with &&)
);
alter table segments alter column columns set storage external;
create table segment_buckets (
  segment_no int not null,
  bucket     int not null,
  block      bytea not null,
  primary key (segment_no, bucket)
) with (toast_tuple_target = 8160);
alter table segment_buckets alter column block set storage external;
create table segments_version (
  one     boolean primary key default true check (one),
  version bigint not null default 0
);
insert into segments_version default values;
create table article_days (
  axis     text not null check (axis in ('published_at', 'ingested_at')),
  day      date not null,
  articles bigint not null,
  primary key (axis, day)
) with (fillfactor = 50);
create table article_texts (
  seq     bigint primary key,
  title   text not null,
  url     text not null,
  snippet text,
  body    text
);
create table embeddings (
  seq           bigint primary key,
  due_at        timestamptz(3) not null,
  claimed_until timestamptz(3),
  embedded_at   timestamptz(3),
  attempts      int not null default 0,
  failed_at     timestamptz(3),
  error         text
);
create index embeddings_due on embeddings (due_at) where embedded_at is null and failed_at is null;
create index embeddings_failed on embeddings (failed_at) where failed_at is not null;
create table vector_collections (
  name          text primary key,
  state         text not null check (state in ('serving', 'filling', 'retired')),
  model         text not null,
  recipe        int not null,
  dimensions    int not null,
  api           text,
  url           text,
  filled_to     bigint not null default 0,
  registered_at timestamptz(3) not null default clock_timestamp(),
  changed_at    timestamptz(3) not null default clock_timestamp()
);
create unique index vector_collections_one on vector_collections (state) where state <> 'retired';
create table api_keys (
  id            text primary key,
  key_hash      bytea not null unique,
  name          text not null,
  countries     text[] not null,
  history_start timestamptz(3),
  history_days  int,
  rate          int not null check (rate > 0),
  quota         int check (quota >= 0),
  created_at    timestamptz(3) not null default now(),
  updated_at    timestamptz(3) not null default now(),
  revoked_at    timestamptz(3),
  check ((history_start is null) <> (history_days is null))
);
create unlogged table rate_windows (
  key_id     text primary key,
  started_at timestamptz not null,
  used       int not null,
  allowed    boolean not null
) with (fillfactor = 50);
create table quota_months (
  key_id text not null references api_keys,
  month  date not null,
  used   int not null,
  primary key (key_id, month)
);
create unlogged table auth_failures (
  address      text primary key,
  failed_at    timestamptz[] not null,
  locked_until timestamptz(3),
  was_locked   boolean not null,
  seen_at      timestamptz(3) not null
);
create index auth_failures_seen on auth_failures (seen_at);
create table secrets (
  name  text primary key,
  value bytea not null
);
create table semantic_sets (
  set_id     text primary key,
  question   bytea not null,
  made_at    timestamptz(3) not null,
  seqs       bigint[] not null,
  relevances smallint[] not null
);
create index semantic_sets_question on semantic_sets (question, made_at desc);
create index semantic_sets_made on semantic_sets (made_at);
alter table embeddings add column page_no bigint;
create table reindex_runs (
  selection  text primary key,
  started_at timestamptz(3) not null default clock_timestamp(),
  last_seq   bigint not null,
  done_to    bigint not null default 0
);
create function keep_semantic_set(
  lock_no bigint,
  own_set text,
  asked bytea,
  own_seqs bigint[],
  own_relevances smallint[]
) returns text
language plpgsql as $$
declare
  known text;
begin
  perform set_config('synchronous_commit', 'off', true);
  perform pg_advisory_xact_lock(lock_no);
  select s.set_id into known
    from semantic_sets s
   where s.question = asked and s.made_at > clock_timestamp() - interval '5 minutes'
   order by s.made_at desc limit 1;
  if known is not null then
    return known;
  end if;
  insert into semantic_sets (set_id, question, made_at, seqs, relevances)
  values (own_set, asked, clock_timestamp(), own_seqs, own_relevances)
  on conflict (set_id) do update set made_at = excluded.made_at;
  return own_set;
end
$$;
alter table segments_version add column words_version bigint not null default 0;
alter table feeds add column parsing boolean not null default false;
create table if not exists outlet_loads (
  outlet_no  int primary key references outlets on delete cascade,
  day        date not null,
  hosts      int not null default 0,
  pages      int not null default 0,
  bytes      bigint not null default 0,
  failures   int not null default 0,
  rest_until timestamptz(3) not null default 'epoch'
) with (fillfactor = 50);
alter table hosts add column if not exists called_for int;
drop index if exists pages_waiting_turns;
create index pages_waiting_turns on pages (host, outlet_no, next_try_at)
  where state = 'waiting' and reason is distinct from 'put off';
drop index if exists pages_put_off;
create index pages_put_off on pages (outlet_no, page_no)
  where state = 'waiting' and reason = 'put off';
drop index if exists pages_stored_turns;
create index pages_stored_turns on pages (outlet_no, next_try_at) where state = 'stored';
create table search_feeds (
  feed_id      text primary key,
  key_id       text not null references api_keys,
  token_hash   bytea not null unique,
  nonce        bytea not null,
  search       text not null,
  title        text not null,
  created_at   timestamptz(3) not null default now(),
  revoked_at   timestamptz(3),
  last_used_at timestamptz(3),
  requests     bigint not null default 0
) with (fillfactor = 70);
create index search_feeds_key on search_feeds (key_id, created_at);
drop index if exists authors_folded_name;
alter table pages add column modified timestamptz(3);
alter table pages add column retitled bytea;
alter table pages add column hinted_at timestamptz(3);
alter table page_sources add column etag text;
alter table page_sources add column last_modified text;
alter table page_sources add column digest bytea;
alter table hosts add column looking boolean not null default false;
create table page_looks (
  page_no       bigint primary key references pages on delete cascade,
  outlet_no     int not null references outlets,
  host          text not null,
  born_at       timestamptz(3) not null,
  look_at       timestamptz(3),
  looks         smallint not null default 0,
  attempts      smallint not null default 0,
  answered_at   timestamptz(3) not null,
  hinted_at     timestamptz(3),
  final_url     text not null,
  etag          text,
  last_modified text,
  digest        bytea,
  title         text not null,
  sentences     bytea not null,
  modified      timestamptz(3),
  corrected     boolean not null default false,
  changed_at    timestamptz(3),
  changes       smallint not null default 0,
  what          text[] not null default '{}',
  titles        text[] not null default '{}',
  gone_at       timestamptz(3),
  gone_status   smallint
) with (fillfactor = 70);
create index page_looks_due on page_looks (host, outlet_no, look_at) where look_at is not null;
create index page_looks_changed on page_looks (changed_at) where changed_at is not null;
create index page_looks_gone on page_looks (gone_at) where gone_at is not null;
create table look_sources (
  page_no       bigint primary key references page_looks on delete cascade,
  outlet_no     int not null,
  final_url     text not null,
  status        int not null,
  content_type  text,
  body          bytea not null,
  fetched_at    timestamptz(3) not null,
  claimed_until timestamptz(3) not null default 'epoch',
  attempts      smallint not null default 0
);
alter table look_sources alter column body set storage external;
create index look_sources_fetched on look_sources (fetched_at);
alter table pages add column if not exists origins text;
create table outlet_origins (
  outlet_no int not null references outlets on delete cascade,
  day       date not null,
  field     text not null,
  source    text not null,
  articles  int not null,
  primary key (outlet_no, day, field, source)
) with (fillfactor = 50);
create table feed_archives (
  feed_no  int not null references feeds on delete cascade,
  url      text not null,
  depth    int not null,
  found_at timestamptz(3) not null default now(),
  read_at  timestamptz(3),
  tries    int not null default 0,
  primary key (feed_no, url)
) with (fillfactor = 70);
create index feed_archives_unread on feed_archives (feed_no, depth) where read_at is null;
create table websub_subscriptions (
  feed_no     int primary key references feeds on delete cascade,
  hub         text not null,
  topic       text not null,
  token       text not null unique,
  secret      text not null,
  state       text not null default 'wanted' check (state in ('wanted', 'asked', 'active', 'denied')),
  next_try_at timestamptz(3) not null default now(),
  failures    int not null default 0,
  lease_until timestamptz(3),
  rung_at     timestamptz(3),
  last_error  text
) with (fillfactor = 70);
create table outlet_templates (
  outlet_no int primary key references outlets on delete cascade,
  pages     int not null,
  template  json not null
) with (fillfactor = 50);
create table archive_indices (
  name            text primary key,
  first_seq       bigint not null,
  last_seq        bigint not null,
  filled_to       bigint not null,
  state           text not null check (state in ('building', 'serving', 'retired')),
  analysis        int not null,
  first_published timestamptz(3),
  last_published  timestamptz(3),
  first_ingested  timestamptz(3),
  last_ingested   timestamptz(3),
  undated         bigint not null default 0
);
create unique index archive_indices_serving on archive_indices (first_seq) where state = 'serving';
alter table segments_version add column released_to bigint not null default 0;
alter table feeds
  add column named    boolean not null default false,
  add column gaps     int not null default 0,
  add column gap_from timestamptz(3),
  add column gap_to   timestamptz(3);
update feeds set named = true where active and last_new_at is not null;
alter table feed_archives
  add column gap_from timestamptz(3),
  add column gap_to   timestamptz(3);
alter table ingest_clock
  add column hidden_after bigint,
  add column hidden_mark  bigint,
  add column hidden_until timestamptz(3),
  add column shown_seq    bigint not null generated always as (coalesce(hidden_after, last_seq)) stored;
create table segments_ahead (
  segment_no  int primary key,
  kind        text not null check (kind in ('flush', 'merge')),
  first_seq   bigint not null,
  last_seq    bigint not null,
  bucket_bits smallint not null,
  first_published timestamptz(3),
  last_published  timestamptz(3),
  first_ingested  timestamptz(3),
  last_ingested   timestamptz(3),
  undated     int not null,
  columns     bytea not null
);
alter table segments_ahead alter column columns set storage external;
alter table semantic_sets
  alter column seqs set statistics 0,
  alter column relevances set statistics 0;
create table migrations (number int primary key, name text not null, applied_at timestamptz not null default now());
insert into migrations (number, name) select number, 'a former file' from generate_series(1, 22) number;

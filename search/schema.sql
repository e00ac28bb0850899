-- The tables of the engine, for a database of its own. In Perscope's database `infra/migrations`
-- makes them, one change after another, and says what each is for (docs/schema.md prints it). A
-- test holds the two together.

create table ingest_clock (
  one          boolean primary key default true check (one),
  last_at      timestamptz(3) not null default 'epoch',
  last_seq     bigint not null default 0,
  last_removal bigint not null default 0
);
insert into ingest_clock default values;

create table publishers (
  publisher_no  int generated always as identity primary key,
  outlet        text collate "C" not null,
  name          text,
  domain        text,
  folded_name   text not null,
  folded_domain text not null,
  rules         smallint,
  unique nulls not distinct (outlet, name)
);

create table authors (
  author_no   int generated always as identity primary key,
  id          text collate "C" not null unique,
  outlet      text collate "C" not null,
  name        text not null,
  folded_name text not null,
  rules       smallint
);

create table article_addresses (
  outlet  text collate "C" not null,
  address text collate "C" not null,
  id      text collate "C" not null,
  primary key (outlet, address)
);
create index article_addresses_id on article_addresses using hash (id);

create table article_ids (id text collate "C" primary key);

create table outlet_domains (
  domain text collate "C" primary key,
  first  text collate "C" not null
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
  own_time     boolean,
  section      text,
  kind         text,
  access       text
) partition by range (seq);
create table articles_p0 partition of articles (primary key (seq)) for values from (0) to (4194304);

create table article_words (
  seq   bigint primary key,
  title text not null,
  body  text not null
) with (toast_tuple_target = 8160);

create table article_texts (
  seq          bigint primary key,
  title        text not null,
  url          text not null,
  snippet      text,
  body         text,
  agencies     text[],
  agency_rules smallint
);

create table article_days (
  axis     text not null check (axis in ('published_at', 'ingested_at')),
  day      date not null,
  articles bigint not null,
  primary key (axis, day)
) with (fillfactor = 50);

create table article_rights (
  id          text collate "C" primary key,
  snippet     boolean not null,
  vector      boolean not null default true,
  page_no     bigint,
  article_seq bigint
);
create index article_rights_silent on article_rights (article_seq) where not vector;

create table embeddings (
  seq           bigint primary key,
  due_at        timestamptz(3) not null,
  claimed_until timestamptz(3),
  embedded_at   timestamptz(3),
  attempts      int not null default 0,
  failed_at     timestamptz(3),
  error         text,
  page_no       bigint,
  ends          smallint not null default 0,
  rests_until   timestamptz(3)
);
create index embeddings_due on embeddings (due_at) where embedded_at is null and failed_at is null;
create index embeddings_failed on embeddings (failed_at) where failed_at is not null;

create table derived_rules (
  name  text primary key,
  rules int not null
);

create table segments (
  segment_no      int generated always as identity primary key,
  first_seq       bigint not null,
  last_seq        bigint not null,
  bucket_bits     smallint not null,
  first_published timestamptz(3),
  last_published  timestamptz(3),
  first_ingested  timestamptz(3),
  last_ingested   timestamptz(3),
  undated         int not null,
  columns         bytea not null,
  sealed_at       timestamptz(3) not null default now(),
  digest          bytea,
  cleared         bigint not null default 0,
  stated          boolean not null default false,
  exclude using gist (int8range(first_seq, last_seq, '[]') with &&)
);
alter table segments alter column columns set storage external;

create table segments_ahead (
  segment_no      int primary key,
  kind            text not null check (kind in ('flush', 'merge', 'import')),
  stored_at       timestamptz(3) not null default now(),
  first_seq       bigint not null,
  last_seq        bigint not null,
  bucket_bits     smallint not null,
  first_published timestamptz(3),
  last_published  timestamptz(3),
  first_ingested  timestamptz(3),
  last_ingested   timestamptz(3),
  undated         int not null,
  columns         bytea not null,
  digest          bytea,
  cleared         bigint not null default 0,
  stated          boolean not null default false
);
alter table segments_ahead alter column columns set storage external;

create table segment_buckets (
  segment_no int not null,
  bucket     int not null,
  block      bytea not null,
  primary key (segment_no, bucket)
) with (toast_tuple_target = 8160);
alter table segment_buckets alter column block set storage external;

create table segments_version (
  one           boolean primary key default true check (one),
  version       bigint not null default 0,
  words_version bigint not null default 0,
  released_to   bigint not null default 0
);
insert into segments_version default values;

create function refuse_segment_above_clock() returns trigger language plpgsql as $$
begin
  if new.last_seq > (select last_seq from ingest_clock) then
    raise exception 'segment % ends at article %, above the clock', new.segment_no, new.last_seq;
  end if;
  return null;
end
$$;
create constraint trigger segments_below_clock after insert or update on segments
  deferrable initially deferred for each row execute function refuse_segment_above_clock();

create function refuse_unstated_segment() returns trigger language plpgsql as $$
begin
  if exists (select from articles where seq between new.first_seq and new.last_seq
                and (section is not null or kind is not null or access is not null)) then
    raise exception 'segment % lacks what outlets say of its articles', new.segment_no;
  end if;
  return null;
end
$$;
create constraint trigger segments_stated after insert or update on segments
  deferrable initially deferred for each row when (not new.stated)
  execute function refuse_unstated_segment();

create table tombstones (
  number      bigint primary key,
  seq         bigint not null unique,
  id          text collate "C" not null unique,
  country     text not null,
  covered_at  timestamptz(3),
  removed_at  timestamptz(3) not null,
  reason      text not null,
  released_at timestamptz(3),
  cleared_at  timestamptz(3),
  cited_hash  bytea,
  author_nos  integer[]
);
create index tombstones_uncleared on tombstones (number) where cleared_at is null;

create table tombstone_addresses (
  hash bytea primary key,
  seq  bigint not null
);
create index tombstone_addresses_seq on tombstone_addresses (seq);

create table tombstone_key (
  one       boolean primary key default true check (one),
  inner_pad bytea not null,
  outer_pad bytea not null
);
-- The two blocks of a random key of HMAC-SHA-256 with 64 bytes.
with drawn as materialized (
  select string_agg(uuid_send(gen_random_uuid()), '') as key from generate_series(1, 8)
), digest as materialized (
  select sha256(substr(key, 1, 64)) || sha256(substr(key, 65)) as key from drawn
)
insert into tombstone_key (inner_pad, outer_pad)
select string_agg(set_byte('\x00', 0, get_byte(key, at) # 54), '' order by at),
       string_agg(set_byte('\x00', 0, get_byte(key, at) # 92), '' order by at)
  from digest, generate_series(0, 63) as at;

-- The planner would keep samples of what a removed article said.
alter table authors alter name set statistics 0, alter folded_name set statistics 0;
alter table article_words alter title set statistics 0, alter body set statistics 0;
alter table article_texts
  alter title set statistics 0, alter url set statistics 0, alter snippet set statistics 0, alter body set statistics 0;
alter table embeddings alter error set statistics 0;
alter table segments alter columns set statistics 0;
alter table segments_ahead alter columns set statistics 0;
alter table segment_buckets alter block set statistics 0;

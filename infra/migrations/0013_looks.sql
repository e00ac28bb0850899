-- Looks at pages that are done: whether the outlet has changed or removed them. Articles stay as they are (decision 24).

-- The latest change that feeds and sitemaps named, and when one of them last named a new one.
alter table pages add column modified timestamptz(3);
alter table pages add column retitled bytea;             -- SHA-256, cut, of the latest title that is not the entry's
alter table pages add column hinted_at timestamptz(3);

-- Validators of the answer, and SHA-256, cut, of its bytes.
alter table page_sources add column etag text;
alter table page_sources add column last_modified text;
alter table page_sources add column digest bytea;

-- The visit under way was called for looks alone.
alter table hosts add column looking boolean not null default false;

create table page_looks (
  page_no       bigint primary key references pages on delete cascade,
  outlet_no     int not null references outlets,
  host          text not null,
  born_at       timestamptz(3) not null,                 -- its age counts from here
  look_at       timestamptz(3),                          -- null: no look is planned
  looks         smallint not null default 0,             -- that were answered, or given up
  attempts      smallint not null default 0,             -- of the present look
  answered_at   timestamptz(3) not null,                 -- the last complete answer
  hinted_at     timestamptz(3),                          -- as `pages.hinted_at`
  -- The latest version that was read.
  final_url     text not null,
  etag          text,
  last_modified text,
  digest        bytea,
  title         text not null,
  sentences     bytea not null,                          -- four bytes of a hash each (services/normaliser/changes)
  modified      timestamptz(3),                          -- as the page says
  corrected     boolean not null default false,          -- the page says that it was corrected
  -- Findings.
  changed_at    timestamptz(3),
  changes       smallint not null default 0,
  what          text[] not null default '{}',
  titles        text[] not null default '{}',            -- that the page had before, oldest first
  gone_at       timestamptz(3),
  gone_status   smallint
) with (fillfactor = 70);
create index page_looks_due on page_looks (host, outlet_no, look_at) where look_at is not null;
create index page_looks_changed on page_looks (changed_at) where changed_at is not null;
create index page_looks_gone on page_looks (gone_at) where gone_at is not null;

-- Bytes that a look brought, until the normaliser has compared them.
create table look_sources (
  page_no       bigint primary key references page_looks on delete cascade,
  outlet_no     int not null,
  final_url     text not null,
  status        int not null,
  content_type  text,
  body          bytea not null,                          -- gzip
  fetched_at    timestamptz(3) not null,
  claimed_until timestamptz(3) not null default 'epoch',
  attempts      smallint not null default 0
);
alter table look_sources alter column body set storage external; -- it is compressed already
create index look_sources_fetched on look_sources (fetched_at);

-- The catalogue: which outlets are crawled, and through which feeds.
-- `npm run outlets -- sync FILE` writes it; articles never point here (they carry a stamp of their own).

create table outlets (
  outlet_no   int generated always as identity primary key,
  domain      text not null unique,          -- without www.; an outlet is known by it
  name        text not null,
  country     text not null check (country in ('NL', 'BE', 'LU')),
  languages   text[] not null,
  time_zone   text not null,
  active      boolean not null default true, -- false: left the file; its articles stay
  created_at  timestamptz(3) not null default now()
);

create table feeds (
  feed_no         int generated always as identity primary key,
  outlet_no       int not null references outlets,
  url             text not null,
  kind            text not null check (kind in ('feed', 'sitemap')),
  active          boolean not null default true,
  host            text not null,               -- whose pace it obeys, see `hosts`
  etag            text,                        -- saved with the addresses that the answer named, never before
  last_modified   text,
  next_poll_at    timestamptz(3) not null default now(),
  poll_interval   int not null default 0,      -- ms between polls, follows the outlet's rhythm
  last_polled_at  timestamptz(3),
  last_success_at timestamptz(3),
  last_new_at     timestamptz(3),              -- last poll that named an address not seen before
  rhythm          int,                         -- ms between new articles, smoothed; null: not known yet
  failures        int not null default 0,      -- in a row
  last_error      text,
  unique (outlet_no, url)
);

create index feeds_due on feeds (host, next_poll_at) where active;

-- The documents of a sitemap index that were read, so that an unchanged one is not asked for again.
create table sitemap_parts (
  feed_no       int not null references feeds on delete cascade,
  url           text not null,
  modified      text,                          -- the index's `lastmod` when it was read
  etag          text,
  last_modified text,
  read_at       timestamptz(3) not null,
  primary key (feed_no, url)
);

-- What kept an outlet's pages from us, noticed by the crawler (a status) or the normaliser (a wall in the text).
create table outlet_blocks (
  outlet_no int not null references outlets on delete cascade,
  kind      text not null,                     -- forbidden, challenge, cookie wall, paywall …
  pages     int not null default 1,
  last_at   timestamptz(3) not null default now(),
  primary key (outlet_no, kind)
);

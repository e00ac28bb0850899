-- Crawl memory: one row for every address that a feed ever named. Its state is the truth about the
-- work still to do: crawlers claim due hosts from here, and messages to the normaliser that are lost
-- are derived from here again.

-- Whoever makes a request to a host has its permit. `free_at` then lies so far ahead that nobody else
-- begins before the request has ended or its maker is known to be dead; afterwards it is the pause.
create table hosts (
  host            text primary key,                       -- with the port when it is not the scheme's default
  free_at         timestamptz(3) not null default 'epoch', -- no request before
  permit          uuid,                                   -- of whom the request is, while it lasts
  leased_until    timestamptz(3) not null default 'epoch', -- one visit at a time, dead visitors expire
  holder          uuid,
  visits          int not null default 0,                 -- every other one begins with a page
  visited_for     int,                                    -- the outlet on whose behalf the visit is made
  crawl_delay     int,                                    -- ms, from robots.txt
  robots          text,                                   -- the rules for us, one a line; '': everything is allowed
  robots_until    timestamptz(3) not null default 'epoch', -- when it is to be fetched again
  robots_blocked  boolean not null default false,         -- unreachable (RFC 9309 §2.3.1.4): nothing may be fetched
  robots_failures int not null default 0,                 -- in a row
  failures        int not null default 0,                 -- connections in a row that failed
  last_error      text,
  tdm             jsonb,                                  -- the rules of its tdmrep.json; null: none
  tdm_until       timestamptz(3) not null default 'epoch', -- when it is to be fetched again
  news_sitemap    text                                    -- the first that its robots.txt names
) with (fillfactor = 50);                                 -- updated with every request, in place

create table pages (
  page_no        bigint generated always as identity primary key,
  outlet_no      int not null references outlets,
  feed_no        int references feeds,
  url            text not null,
  crawl_key      text collate "C" not null,             -- the address without what only tracks
  host           text not null,
  entry          jsonb,                                 -- what the feed said (shared/outlets/page.ts)
  state          text not null default 'waiting'
                 check (state in ('waiting', 'stored', 'done', 'refused', 'failed')),
  reason         text,                                  -- why refused, failed, or waiting again; one of a short list
  detail         text,
  attempts       int not null default 0,                -- of the present state
  next_try_at    timestamptz(3) not null default now(),
  discovered_at  timestamptz(3) not null default now(),
  first_tried_at timestamptz(3),
  finished_at    timestamptz(3),
  -- Two characters a field say where it came from (shared/outlets/origins.ts); null: no article of
  -- its own came of the page.
  origins        text,
  rights         jsonb,                                 -- the signals that the page had, when it was finished
  named_by       smallint not null default 1,           -- 1: a feed did, 2: a sitemap, 3: both
  unique (outlet_no, crawl_key)
);

-- What is due, by host and for the normaliser; these indexes hold only open work. A page on a host
-- that exceeds its outlet's budget of new hosts waits with the reason 'put off'.
create index pages_waiting on pages (host, next_try_at) where state = 'waiting';
create index pages_waiting_turns on pages (host, outlet_no, next_try_at)
  where state = 'waiting' and reason is distinct from 'put off';
create index pages_put_off on pages (outlet_no, page_no) where state = 'waiting' and reason = 'put off';
create index pages_stored on pages (next_try_at) where state = 'stored';
create index pages_stored_turns on pages (outlet_no, next_try_at) where state = 'stored';
create index pages_failed on pages (finished_at) where state = 'failed';
create index pages_rights on pages (outlet_no) where rights is not null;

-- What the outlet served; removed some days after the page is done.
create table page_sources (
  page_no       bigint primary key references pages on delete cascade,
  final_url     text not null,
  status        int not null,
  content_type  text,
  body          bytea,                                  -- gzip of the bytes; null when the outlet refused
  fetched_at    timestamptz(3) not null,
  rights        jsonb                                   -- headers that state rights; null: none did
);
alter table page_sources alter column body set storage external; -- it is compressed already
create index page_sources_fetched on page_sources (fetched_at);

-- Texts that an outlet served under several addresses: walls, not articles.
create table served_texts (
  outlet_no    int not null references outlets,
  fingerprint  bytea not null,
  pages        int not null default 1,
  last_seen_at timestamptz(3) not null default now(),
  primary key (outlet_no, fingerprint)
);

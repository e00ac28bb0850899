-- The catalogue: which outlets are crawled, through which feeds, and what is known of each.
-- `npm run outlets -- sync FILE` writes outlets and feeds. Articles never point here: they carry a
-- stamp of their own (`publishers`).

create table outlets (
  outlet_no   int generated always as identity primary key,
  domain      text not null unique,          -- without www.; an outlet is known by it
  hosts       text[] not null default '{}',  -- other hosts of its pages, with their subdomains
  name        text not null,
  country     text not null check (country in ('NL', 'BE', 'LU')),
  languages   text[] not null,
  time_zone   text not null,
  active      boolean not null default true, -- false: left the file; its articles stay
  created_at  timestamptz(3) not null default now(),
  licence     text,                          -- the operator's with the outlet; outweighs its reservation
  -- An outlet without sitemaps in the catalogue is counted a second time by the news sitemap of its robots.txt.
  second_at   timestamptz(3) not null default 'epoch', -- not read before
  second_from timestamptz(3)                 -- older articles do not count
);

create index outlets_hosts on outlets using gin (hosts);

create table feeds (
  feed_no         int generated always as identity primary key,
  outlet_no       int not null references outlets,
  url             text not null,
  kind            text not null check (kind in ('feed', 'sitemap')),
  active          boolean not null default true,
  host            text not null,             -- whose pace it obeys, see `hosts`
  etag            text,                      -- saved with the addresses that the answer named, never before
  last_modified   text,
  next_poll_at    timestamptz(3) not null default now(),
  poll_interval   int not null default 0,    -- ms between polls, follows the outlet's rhythm
  last_polled_at  timestamptz(3),
  last_success_at timestamptz(3),
  last_new_at     timestamptz(3),            -- last poll that named an address not seen before
  rhythm          int,                       -- ms between new articles, smoothed; null: not known yet
  failures        int not null default 0,    -- in a row
  last_error      text,
  -- A poll has begun to parse a document. Whoever finds the mark knows that this poll never ended.
  parsing         boolean not null default false,
  named           boolean not null default false, -- has named an address since it is in the catalogue
  -- A feed that shows none of the known entries may have lost articles between two polls.
  gaps            int not null default 0,    -- counted anew after seven days without one
  gap_from        timestamptz(3),            -- the latest gap: from the last successful poll before …
  gap_to          timestamptz(3),            -- … to the poll that found it
  -- A gap that older pages of the feed may still close.
  open_gap_from   timestamptz(3),            -- null: no gap is open
  open_gap_to     timestamptz(3),
  older_tries     int not null default 0,    -- polls in which one of them failed
  habits          jsonb,                     -- what its polls have taught (`Habits`); null: not polled yet
  unique (outlet_no, url)
);

create index feeds_due on feeds (host, next_poll_at) where active;

-- The documents of a sitemap index that were read, so that an unchanged one is not asked for again.
create table sitemap_parts (
  feed_no       int not null references feeds on delete cascade,
  url           text not null,
  modified      text,                        -- the index's `lastmod` when it was read
  etag          text,
  last_modified text,
  read_at       timestamptz(3) not null,
  primary key (feed_no, url)
);

-- What kept an outlet's pages from us, noticed by the crawler (a status) or by the normaliser (a
-- wall in the text).
create table outlet_blocks (
  outlet_no int not null references outlets on delete cascade,
  kind      text not null,                   -- forbidden, challenge, cookie wall, paywall …
  pages     int not null default 1,
  last_at   timestamptz(3) not null default now(),
  primary key (outlet_no, kind)
);

-- What each outlet has had of the crawl today, and how its pages answer: every stage takes turns by
-- outlet.
create table outlet_loads (
  outlet_no  int primary key references outlets on delete cascade,
  day        date not null,                  -- UTC; figures of another day count as none
  hosts      int not null default 0,         -- that none of our outlets had named before
  pages      int not null default 0,         -- that were asked for
  bytes      bigint not null default 0,      -- that are kept of its pages and of what its feeds said
  failures   int not null default 0,         -- pages that did not answer in time; answers halve it
  rest_until timestamptz(3) not null default 'epoch' -- because of them: no page is asked for before
) with (fillfactor = 50);                    -- updated with every page, in place

-- How often each source named a field of an outlet's articles.
create table outlet_origins (
  outlet_no int not null references outlets on delete cascade,
  day       date not null,                   -- UTC, of the indexing
  field     text not null,
  source    text not null,
  articles  int not null,
  primary key (outlet_no, day, field, source)
) with (fillfactor = 50);                    -- updated with every batch of articles, in place

-- What the pages of an outlet have in common, learned page by page.
create table outlet_templates (
  outlet_no int primary key references outlets on delete cascade,
  pages     int not null,                    -- that were learned from, ever
  template  json not null                    -- at most 6 kB; not jsonb: the order of keys is their age
) with (fillfactor = 50);                    -- updated in place

-- Addresses that only such a sitemap named. They are counted, never fetched, and soon removed.
create table unfetched_addresses (
  outlet_no int not null references outlets on delete cascade,
  crawl_key text collate "C" not null,
  day       date not null,                         -- UTC, of publication
  primary key (outlet_no, crawl_key)
);

-- How each outlet was asked by day, and how much of what it named we have (shared/outlets/days.ts).
create table outlet_days (
  outlet_no  int not null references outlets on delete cascade,
  day        date not null,                        -- UTC
  -- Added up by the crawlers.
  polls      int not null default 0,               -- of its feeds, that were answered
  sitemaps   int not null default 0,               -- the same of its sitemaps
  requests   int not null default 0,
  errors     int not null default 0,               -- no answer, or a status from 400 but 404 and 410
  unchanged  int not null default 0,               -- 304
  bytes      bigint not null default 0,            -- of bodies, as they were sent
  rolled     int not null default 0,               -- feeds that rolled on between two polls
  -- Counted anew from `pages` while they still change. Of addresses, by the day when they were found.
  feeds      int not null default 0,               -- that its feeds named
  second     int not null default 0,               -- that its sitemaps named
  named      int not null default 0,               -- by either, in languages of ours
  indexed    int not null default 0,               -- with an article
  alone      int not null default 0,               -- of these, from the feed alone
  reasons    jsonb not null default '{}',          -- refused, by reason
  refused    int not null default 0,               -- in languages of ours
  lost       int not null default 0,               -- given up
  unfetched  int not null default 0,               -- only counted
  waiting    int not null default 0,
  first_page bigint,                               -- the lowest `page_no`
  primary key (outlet_no, day)
) with (fillfactor = 50);                          -- updated in place

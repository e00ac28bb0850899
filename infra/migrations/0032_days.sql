-- How each outlet was asked by day, and how much of what it named we have (shared/outlets/days.ts).

alter table pages add column named_by smallint not null default 1; -- 1: a feed did, 2: a sitemap, 3: both
alter table hosts add column news_sitemap text;     -- the first that its robots.txt names
-- An outlet without sitemaps in the catalogue is counted a second time by that news sitemap.
alter table outlets add column second_at timestamptz(3) not null default 'epoch', -- not read before
                    add column second_from timestamptz(3); -- older articles do not count

-- Addresses that only such a sitemap named. They are counted, never fetched, and soon removed.
create table unfetched_addresses (
  outlet_no int not null references outlets on delete cascade,
  crawl_key text collate "C" not null,
  day       date not null,                         -- UTC, of publication
  primary key (outlet_no, crawl_key)
);

drop index pages_refused; -- these rows tell what it was for

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

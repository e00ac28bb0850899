-- outside a transaction
-- What each outlet has had of the crawl today, and how its pages answer: every stage takes turns by outlet. The indexes are made
-- while crawlers write; a run that was interrupted begins again here, so every statement may be met twice.

create table if not exists outlet_loads (
  outlet_no  int primary key references outlets on delete cascade,
  day        date not null,                              -- UTC; figures of another day count as none
  hosts      int not null default 0,                     -- that none of our outlets had named before
  pages      int not null default 0,                     -- that were asked for
  bytes      bigint not null default 0,                  -- that are kept of its pages and of what its feeds said
  failures   int not null default 0,                     -- pages that did not answer in time; answers halve it
  rest_until timestamptz(3) not null default 'epoch'     -- because of them: no page is asked for before
) with (fillfactor = 50); -- updated with every page, in place

-- On whose behalf the latest visit was called.
alter table hosts add column if not exists called_for int;

-- A page on a host that exceeds its outlet's budget of new hosts waits with the reason 'put off'.
drop index concurrently if exists pages_waiting_turns;
create index concurrently pages_waiting_turns on pages (host, outlet_no, next_try_at)
  where state = 'waiting' and reason is distinct from 'put off';
drop index concurrently if exists pages_put_off;
create index concurrently pages_put_off on pages (outlet_no, page_no)
  where state = 'waiting' and reason = 'put off';
drop index concurrently if exists pages_stored_turns;
create index concurrently pages_stored_turns on pages (outlet_no, next_try_at) where state = 'stored';

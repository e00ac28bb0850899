-- What outlets had before they were added (services/crawler/back-fill.ts).

create table back_fills (
  outlet_no    int primary key references outlets on delete cascade,
  from_day     date not null,
  to_day       date not null,
  newest_first boolean not null,
  state        text not null default 'running' check (state in ('running', 'stopped', 'done')),
  due_at       timestamptz(3) not null default now(),   -- nothing is asked before
  failures     int not null default 0,                  -- tries in a row without an answer
  moved_at     timestamptz(3) not null default now(),   -- when an address was last settled
  why          text,                                    -- why the last try settled none
  counted_at   timestamptz(3) not null default 'epoch'  -- when `back_days` was last counted
);

-- The ledger: each address once. Documents (robots.txt, sitemaps, indexes) are read before pages.
create table back_addresses (
  outlet_no int not null references back_fills on delete cascade,
  crawl_key text collate "C" not null,          -- as in pages; of a document its address
  depth     smallint,                           -- of a document, from 0; null: a page
  day       date,                               -- of publication, as far as its sitemap or address says
  place     int not null,                       -- in the order of the back-fill
  entry     jsonb,                              -- what the sitemap said; null: a document, or no more to be fetched
  state     text not null default 'waiting' check (state in ('waiting', 'fetched', 'refused', 'lost')),
  reason    text,
  attempts  smallint not null default 0,
  due_at    timestamptz(3) not null default now(),
  primary key (outlet_no, crawl_key)
);
create index back_addresses_next on back_addresses (outlet_no, place, crawl_key) where state = 'waiting';

-- The sums of the ledger, counted again while it changes. Pages without a day count on -infinity.
create table back_days (
  outlet_no int not null references back_fills on delete cascade,
  day       date not null,
  named     int not null,
  fetched   int not null,
  refused   int not null,
  lost      int not null,
  primary key (outlet_no, day)
);

-- No page of the past is asked for before: the fifth of the host's pace.
alter table hosts add column back_at timestamptz(3) not null default 'epoch';

-- A page of the past has the bit 4 of `named_by`. What becomes of it later, the ledger says too; and
-- of an article that was taken out it keeps no address.
create function note_back_page() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then
    delete from back_addresses where outlet_no = old.outlet_no and crawl_key = old.crawl_key;
  else
    update back_addresses
       set state = case new.state when 'refused' then 'refused' when 'failed' then 'lost' else 'fetched' end, reason = new.reason
     where outlet_no = new.outlet_no and crawl_key = new.crawl_key and state <> 'waiting';
  end if;
  return null;
end
$$;
create trigger pages_back after update of state on pages
  for each row when (new.named_by & 4 > 0 and new.state is distinct from old.state) execute function note_back_page();
create trigger pages_back_gone after delete on pages
  for each row when (old.named_by & 4 > 0) execute function note_back_page();

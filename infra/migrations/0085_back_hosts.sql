-- A host that does not answer keeps no other host of its outlet waiting (services/crawler/back-fill.ts).
alter table back_addresses
  add column host  text collate "C" generated always as (substring(coalesce(entry->>'url', crawl_key) from '^https?://([^/?#]+)')) stored,
  add column waits smallint not null default 0;  -- tries that had to wait; `attempts` failed
create index back_addresses_host on back_addresses (outlet_no, host, place, crawl_key) where state = 'waiting';
drop index back_addresses_next;

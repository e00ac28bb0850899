-- The sums of ledgers answer for them (shared/outlets/back-fills.ts): a ledger may have half a
-- million addresses.
alter table back_days add column reasons jsonb not null default '{}';  -- of those refused or lost: how many, by reason
create index back_addresses_documents on back_addresses (outlet_no, reason, state) where depth is not null;
-- What is settled leaves the index of those that wait: 300,000 dead entries cost 30 to 80 ms a look.
alter table back_addresses set (autovacuum_vacuum_scale_factor = 0.02);

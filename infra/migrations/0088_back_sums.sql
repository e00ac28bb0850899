-- The sums of ledgers answer for them (shared/outlets/back-fills.ts): a ledger may have half a
-- million addresses. Of those refused or lost: how many, by reason. Null: a process before this
-- migration counted the day, and it is counted again.
alter table back_days add column reasons jsonb;
create index back_days_before on back_days (outlet_no) where reasons is null;
create index back_addresses_documents on back_addresses (outlet_no, reason, state) where depth is not null;
-- What is settled leaves the index of those that wait: 300,000 dead entries cost 30 to 80 ms a look.
alter table back_addresses set (autovacuum_vacuum_scale_factor = 0.02);

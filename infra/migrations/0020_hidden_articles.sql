-- Articles of an import are shown when their segment is stored (search/store/hidden-articles.ts). Otherwise every process that
-- searches would take them in one by one, faster than it can beside its searches.
alter table ingest_clock
  add column hidden_after bigint,          -- later articles are written and not shown yet; null: all are shown
  add column hidden_mark  bigint,          -- articles up to here wait until `hidden_until` at most …
  add column hidden_until timestamptz(3),  -- … then whoever sees it first shows all
  -- The newest article that searches show: the watermark. It only grows.
  add column shown_seq    bigint not null generated always as (coalesce(hidden_after, last_seq)) stored;

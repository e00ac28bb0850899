-- outside a transaction
-- What was in hand when a process ended by an exception (shared/process/ends.ts).

alter table pages add column if not exists ends smallint not null default 0,      -- while it was in hand
                  add column if not exists rests_until timestamptz(3);            -- not tried before; null: no end yet
alter table feeds add column if not exists ends smallint not null default 0;      -- since its last good poll
alter table embeddings add column if not exists ends smallint not null default 0,
                       add column if not exists rests_until timestamptz(3);
create index concurrently if not exists pages_resting on pages (rests_until)
  where ends > 2 and state in ('waiting', 'stored');

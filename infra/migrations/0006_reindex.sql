-- How far a `npm run reindex` is: the same command goes on there after it was interrupted or killed. A row goes when its run
-- is complete.
create table reindex_runs (
  selection  text primary key,               -- what is made anew (scripts/reindex/selection.ts)
  started_at timestamptz(3) not null default clock_timestamp(),
  last_seq   bigint not null,                -- of the newest article at the start: later ones were indexed by the new code
  done_to    bigint not null default 0       -- articles up to here are done
);

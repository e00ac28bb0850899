-- The state of a message stands in its row (shared/desk/alerts/messages.ts).
alter table alert_messages
  add column attempts int not null default 0, -- how often it was sent; `try_at` says when it is sent next
  add column host     text,                   -- that receives it; null: a process of an older version wrote it
  add column question text;                   -- digest of search and plan that found its articles; null: the same

-- What the last search of an alert found beyond its message. The next message takes its articles
-- from here (services/api/desk/telling.ts).
create table alert_finds (
  alert_id text primary key references search_alerts (alert_id) on delete cascade,
  question text not null,
  after    bigint not null,         -- the place of the alert at which they follow
  seqs     bigint[] not null,       -- in order
  seq      bigint not null,         -- the place up to which was searched
  at       timestamptz(3) not null
);

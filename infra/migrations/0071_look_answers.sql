-- The crawler itself asks for pages of visible articles again, and hands on what they answer
-- (services/crawler/second-looks.ts). A normaliser judges it.

alter table second_looks
  add column seq bigint,                            -- the number of the article
  add column judged_at timestamptz(3),              -- the last answer that was judged came then
  add column pressing boolean not null default false; -- further refusals take the article out: it is asked first
create index second_looks_pressing on second_looks (looked_at) where pressing;

-- What a page answered, until it is judged. Other answers say nothing of the article.
create table look_answers (
  id            text collate "C" primary key references second_looks on delete cascade,
  answered_at   timestamptz(3) not null default clock_timestamp(),
  claimed_until timestamptz not null default '-infinity', -- a process judges it
  gone          text,                               -- how the page is gone; null: it stands, as follows
  final_url     text,
  status        int,
  content_type  text,
  rights        jsonb,
  body          bytea,                              -- gzip
  answered_by   text                                -- `foreign` of a stored page
);
alter table look_answers alter column body set storage external;
create index look_answers_waiting on look_answers (answered_at);

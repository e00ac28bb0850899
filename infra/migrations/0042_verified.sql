-- What `verify` compares, and what it found (scripts/verify).

-- True: an import brought the time of ingestion. Null: a former version wrote the article.
alter table articles add column own_time boolean;

-- The version of the rules that found its agencies (shared/articles/agencies.ts); null: not known.
alter table article_texts add column agency_rules smallint;

-- What `npm run verify` said. `doctor` reads the latest rows.
create table verifications (
  ended_at    timestamptz(3) primary key default clock_timestamp(),
  seconds     int not null,
  articles    bigint not null,
  sample      int,                            -- segments drawn at random; null: all were compared
  differences int not null,                   -- that something mends
  kinds       text[] not null                 -- of these differences
);

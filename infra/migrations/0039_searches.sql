-- Searches that keys keep (shared/plans/kept-searches.ts). A feed hangs on one.
create table kept_searches (
  search_id  text primary key,
  key_id     text not null references api_keys,
  name       text not null,
  search     text not null,                  -- query string in its one spelling
  position   int not null,
  of_feed    boolean not null default false, -- its feed brought it, and nobody has changed it since
  created_at timestamptz(3) not null default now()
);
create index kept_searches_key on kept_searches (key_id, position);

-- Null: a process of an older version made the feed, or it has ended.
alter table search_feeds add column search_id text references kept_searches on delete set null;
create unique index search_feeds_search on search_feeds (search_id) where revoked_at is null;

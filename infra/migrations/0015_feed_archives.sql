-- Documents of feeds with pages and archives (RFC 5005, and `next_url` of JSON Feed), so that each is read once.

create table feed_archives (
  feed_no  int not null references feeds on delete cascade,
  url      text not null,
  depth    int not null,                         -- links from the feed to this document
  found_at timestamptz(3) not null default now(),
  read_at  timestamptz(3),                       -- null: still to be read
  tries    int not null default 0,               -- that failed
  primary key (feed_no, url)
) with (fillfactor = 70);                        -- read_at is set and taken back in place
create index feed_archives_unread on feed_archives (feed_no, depth) where read_at is null;

-- A feed that shows none of the entries that were known has rolled on since the poll before: articles may have come and gone unseen.
alter table feeds
  add column named    boolean not null default false,    -- has named an address since it is in the catalogue
  add column gaps     int not null default 0,            -- counted anew after seven days without one
  add column gap_from timestamptz(3),                    -- the latest gap: from the last successful poll before …
  add column gap_to   timestamptz(3);                    -- … to the poll that found it
update feeds set named = true where active and last_new_at is not null;

-- A gap that this document may still close, because it lies behind the one that found it; null: none.
alter table feed_archives
  add column gap_from timestamptz(3),
  add column gap_to   timestamptz(3);

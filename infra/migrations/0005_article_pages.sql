-- The page that an article was made of: its number is the one name under which an article can be followed through the
-- logs of all services. Null: it came with an archive, or before this migration.
alter table embeddings add column page_no bigint;

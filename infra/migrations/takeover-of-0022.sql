-- Brings a database of migration 0022, the last of the former files, to the schema of the numbered
-- files beside it, in one transaction. What has no use any more is dropped here, table by table.
-- Processes of the former version cannot work beside it.

-- Newest articles with an index of their own: searched in memory instead.
drop table fresh_articles;
alter table article_words drop column title_stems, drop column body_stems;
-- Served an index on names of authors that is gone.
drop extension if exists pg_trgm;

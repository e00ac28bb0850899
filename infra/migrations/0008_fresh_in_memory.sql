-- The newest articles, which no segment holds yet, are searched in the memory of the processes that search: they read the words
-- that `article_words` has of every article anyway (services/api/search/fresh). So the table that held these articles once more
-- with a tsvector, and what was kept for texts that a tsvector cannot hold, go: its GIN index took three quarters of the
-- database's work for a new article.
drop table fresh_articles;
alter table article_words drop column title_stems, drop column body_stems;

-- Changes when the words of articles without a segment were made anew (`npm run reindex`): what was read of them is out of date.
alter table segments_version add column words_version bigint not null default 0;

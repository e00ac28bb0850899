-- The newest articles, which no segment holds yet, are searched in the memory of the processes that search: they read the words
-- that `article_words` has of every article anyway (search/memory). `fresh_articles` with its GIN index, which took
-- three quarters of the database's work for a new article, and `title_stems` and `body_stems` are used no more; processes of the
-- version before still do, so a later migration removes them.

-- Changes when the words of articles without a segment were made anew (`npm run reindex`): what was read of them is out of date.
alter table segments_version add column words_version bigint not null default 0;

-- News agencies that an article names as its source (shared/articles/agencies.ts); null: none.
alter table article_texts add column agencies text[];

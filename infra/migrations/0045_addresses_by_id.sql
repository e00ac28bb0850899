-- outside a transaction
-- All addresses of an article, for the one who takes it out.
drop index concurrently if exists article_addresses_id;
create index concurrently article_addresses_id on article_addresses using hash (id);

-- outside a transaction
-- Parts of names are looked up in memory (search/names), so nothing reads this index. Each new author cost a dozen
-- entries of it. Processes of the version before find authors without it, only slower.
drop index concurrently if exists authors_folded_name;

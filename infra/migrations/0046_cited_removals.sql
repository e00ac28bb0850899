-- What a citation needs of an article that was taken out: its line holds this hash (docs/citations.md).

alter table tombstones add column cited_hash bytea; -- null: no citation has the article

-- The clearing pass deletes the names of authors that have no other article (search/store/tombstones.ts).

alter table tombstones add column author_nos integer[]; -- null: looked at, or none

-- Counts of texts follow the groups of copies (shared/copies/text-groups.ts).

alter table copies_state add column changed bigint not null default 0; -- the version that last changed groups of articles up to seq
create index copy_sketches_members on copy_sketches (seq) include (first_seq) where first_seq <> seq;

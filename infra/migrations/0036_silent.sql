-- Articles that words alone find, by number: those that meaning can find are counted without them.

alter table article_rights add column article_seq bigint; -- its number; null: written by a former version
update article_rights r set article_seq = a.seq from articles a where a.id = r.id;
create index article_rights_silent on article_rights (article_seq) where not vector;

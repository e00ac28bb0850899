-- The versions of the rules (shared/articles/rules.ts). A database without articles has none of
-- former rules. The rules of snippets are those of all versions before.
insert into derived_rules (name, rules)
select name, 1 from (values ('words'), ('addresses')) as r (name) where not exists (select from articles)
union all select 'snippets', 1
on conflict do nothing;

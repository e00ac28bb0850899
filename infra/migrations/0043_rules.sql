-- What is folded or cut into words bears the version of the rules that did so (search/analysis).

-- Null: a former version folded the name.
alter table publishers add column rules smallint;
alter table authors add column rules smallint;

-- Of what is derived from all articles.
create table derived_rules (
  name  text primary key,                    -- `words`
  rules int not null
);

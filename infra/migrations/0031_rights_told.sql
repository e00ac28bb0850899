-- What outlets state of their rights, for operators.

alter table outlet_rights add column value text;  -- the latest, of a signal with many values
create index pages_rights on pages (outlet_no) where rights is not null;

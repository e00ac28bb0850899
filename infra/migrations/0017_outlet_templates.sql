-- What the pages of an outlet have in common, learned page by page (services/normaliser/template).

create table outlet_templates (
  outlet_no int primary key references outlets on delete cascade,
  pages     int not null,                                -- that were learned from, ever
  template  json not null                                -- at most 6 kB; not jsonb, because the order of its keys tells their age
) with (fillfactor = 50); -- updated in place

-- When the pages of visible articles were asked for again (scripts/outlets/second-looks.ts).

create table second_looks (
  id            text collate "C" primary key,       -- of the article
  outlet_no     int not null references outlets on delete cascade,
  looked_at     timestamptz not null default now(),
  refusals      int not null default 0,             -- answers in a row by which the publisher refuses the page
  refused_since timestamptz                         -- null: the last answer refused nothing
);
create index second_looks_outlet on second_looks (outlet_no, looked_at);

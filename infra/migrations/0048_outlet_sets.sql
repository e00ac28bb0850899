-- Sets of outlets that keys name in `outlets=` (shared/desk/outlet-sets.ts). A row is one set.
create table outlet_sets (
  key_id     text not null references api_keys,
  folded     text not null,                   -- the name in small letters, by which it is found
  name       text not null,
  domains    text[] not null,                 -- exact domains, in small letters, in order
  created_at timestamptz(3) not null default now(),
  primary key (key_id, folded)
);

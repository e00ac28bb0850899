-- The domains of outlets that moved (search/store/outlet-domains.ts). Outlets that never moved have
-- no row. Articles of an outlet are known by its first domain, whichever they bear.

create table outlet_domains (
  domain text collate "C" primary key,
  first  text collate "C" not null
);

-- The canonical addresses that pages at other addresses state, with hashes of their titles and
-- texts (services/normaliser/claims.ts). Two different articles cannot have one address.

create table canonical_claims (
  outlet_no int not null references outlets,
  canonical bytea not null,
  title     bytea not null,
  body      bytea,
  primary key (outlet_no, canonical, title)
);

-- Reservations of text and data mining, as W3C's TDM Reservation Protocol has them.

alter table outlets add column licence text;      -- the operator's with the outlet; outweighs its reservation
alter table hosts add column tdm jsonb,           -- the rules of its tdmrep.json; null: none
                  add column tdm_until timestamptz(3) not null default 'epoch'; -- when it is to be fetched again
alter table article_rights add column vector boolean not null default true, -- false: words find it, meaning does not
                           add column page_no bigint; -- as in `embeddings`, where it has no row then

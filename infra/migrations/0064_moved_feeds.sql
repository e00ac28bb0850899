-- The address to which a feed has moved for good, as its last good poll found it
-- (services/crawler/feeds/save.ts). Operators need it when the old address ends.

alter table feeds add column moved_to text;

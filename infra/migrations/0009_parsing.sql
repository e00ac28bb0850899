-- A poll that has begun to parse a document. The next poll is moved ahead before; whoever finds the mark then knows that the
-- one before never came to its end (services/crawler/feeds).
alter table feeds add column parsing boolean not null default false;

-- How many tries at an outlet's pages have failed since the last one that brought an answer
-- (services/crawler/hosts/budgets.ts), and the reason of the latest.

alter table outlet_loads add column unread smallint not null default 0,
                         add column unread_reason text;

-- When a set of outlets that the search names got other outlets (shared/desk/alerts/messages.ts);
-- null: never.
alter table kept_searches add column sets_changed_at timestamptz;

-- The links of invitations of an older version end with it. Their owners are asked again, once.
update search_alerts set asked_at = null
 where confirmed_at is null and rests is null and asked_at > now() - interval '24 hours';

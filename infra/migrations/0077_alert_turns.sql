-- The longest due alert of a key, which has its turn.
create index search_alerts_turn on search_alerts (key_id, due_at) where rests is null and confirmed_at is not null;

-- Keeps the candidates of a question, or names the set that another process kept a moment before: one round trip instead of
-- five. Each statement in it sees what was committed while it waited for the lock. A crash of the server within the second
-- may lose a set, which costs a client a new beginning; nobody waits for the disk.
create function keep_semantic_set(
  lock_no bigint,                            -- of the question
  own_set text,
  asked bytea,
  own_seqs bigint[],
  own_relevances smallint[]
) returns text
language plpgsql as $$
declare
  known text;
begin
  perform set_config('synchronous_commit', 'off', true);
  perform pg_advisory_xact_lock(lock_no);
  select s.set_id into known
    from semantic_sets s
   where s.question = asked and s.made_at > clock_timestamp() - interval '5 minutes'
   order by s.made_at desc limit 1;
  if known is not null then
    return known;
  end if;
  insert into semantic_sets (set_id, question, made_at, seqs, relevances)
  values (own_set, asked, clock_timestamp(), own_seqs, own_relevances)
  on conflict (set_id) do update set made_at = excluded.made_at;
  return own_set;
end
$$;

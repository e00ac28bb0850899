-- Nets under whoever makes segments: what a segment stands for is what it was made of.

-- A digest of its articles' ids (search/store/postgres-segment-writer.ts); null: a former version made it.
alter table segments add column digest bytea;
alter table segments_ahead add column digest bytea;

-- No segment ends above the clock: it would claim numbers that later articles get.
create function refuse_segment_above_clock() returns trigger language plpgsql as $$
begin
  if new.last_seq > (select last_seq from ingest_clock) then
    raise exception 'segment % ends at article %, above the clock', new.segment_no, new.last_seq;
  end if;
  return null;
end
$$;

create constraint trigger segments_below_clock after insert or update on segments
  deferrable initially deferred for each row execute function refuse_segment_above_clock();

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

-- Articles that words alone find, by number: those that meaning can find are counted without them.

alter table article_rights add column article_seq bigint; -- its number; null: written by a former version
update article_rights r set article_seq = a.seq from articles a where a.id = r.id;
create index article_rights_silent on article_rights (article_seq) where not vector;

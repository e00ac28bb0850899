-- What outlets themselves say of their articles (services/normaliser/metadata/statements.ts). Null:
-- nothing is said, as for all articles before.
alter table articles
  add column section text,
  add column kind    text, -- news, opinion, live, analysis, review
  add column access  text; -- free, paid

-- Whether the terms of these columns are in a segment. A process of an earlier version makes
-- segments without them, and may not for articles that have such a column. Another one makes them.
alter table segments add column stated boolean not null default false;
alter table segments_ahead add column stated boolean not null default false;

create function refuse_unstated_segment() returns trigger language plpgsql as $$
begin
  if exists (select from articles where seq between new.first_seq and new.last_seq
                and (section is not null or kind is not null or access is not null)) then
    raise exception 'segment % lacks what outlets say of its articles', new.segment_no;
  end if;
  return null;
end
$$;
create constraint trigger segments_stated after insert or update on segments
  deferrable initially deferred for each row when (not new.stated)
  execute function refuse_unstated_segment();

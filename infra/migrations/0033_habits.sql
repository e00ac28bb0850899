-- What the polls of a feed have taught: when it is asked next follows (services/crawler/feeds/rhythm.ts).

alter table feeds add column habits jsonb; -- `Habits`; null: not polled yet

update feeds
   set habits = jsonb_build_object(
         'since', last_success_ms, 'at', last_success_ms, 'found', 0, 'expected', 0, 'room', null,
         'rushes', array_fill(0, array[24]),
         'rates', array_fill(round(least(120, 3600000.0 / greatest(rhythm, 1)), 6), array[48]))
  from (select feed_no, floor(extract(epoch from last_success_at) * 1000)::bigint as last_success_ms from feeds) f
 where f.feed_no = feeds.feed_no and rhythm is not null and last_success_at is not null;

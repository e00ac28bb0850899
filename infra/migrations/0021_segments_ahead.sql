-- Segments that are stored and not used yet. Processes that search read them ahead, so that no search waits for a segment
-- that is new (search/merge/make-segments.ts). Their buckets are in segment_buckets, under numbers of `segments`.
create table segments_ahead (
  segment_no  int primary key,
  kind        text not null check (kind in ('flush', 'merge')),
  first_seq   bigint not null,
  last_seq    bigint not null,
  bucket_bits smallint not null,
  first_published timestamptz(3),
  last_published  timestamptz(3),
  first_ingested  timestamptz(3),
  last_ingested   timestamptz(3),
  undated     int not null,
  columns     bytea not null
);
alter table segments_ahead alter column columns set storage external;

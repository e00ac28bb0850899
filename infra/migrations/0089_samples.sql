-- The planner keeps samples of columns (pg_statistic), also of rows that are gone. So ANALYZE takes
-- none of what articles say: nobody looks for rows by it. The former samples go with the type. It
-- stays the same, so no table is written again; but it takes the way of storage with it.
-- `shared/removals/samples.ts` clears the samples of columns by which rows are found.
do $$
declare
  one record;
begin
  for one in
    select name, attname, format_type(atttypid, atttypmod) as type,
           case attstorage when 'e' then 'external' else 'extended' end as storage
      from (values ('article_texts', '{title,url,snippet,body}'), ('article_words', '{title,body}'),
                   ('authors', '{name,folded_name}'), ('segments', '{columns}'), ('segments_ahead', '{columns}'),
                   ('segment_buckets', '{block}'), ('pages', '{url,entry,detail}'), ('page_sources', '{final_url,body}'),
                   ('look_answers', '{final_url,body}'), ('canonical_claims', '{canonical,title,body}'),
                   ('copy_sketches', '{sample}'), ('embeddings', '{error}')) w (name, columns)
      join pg_attribute on attrelid = to_regclass(name) and attname = any (columns::name[])
  loop
    execute format('alter table %1$I alter %2$I type %3$s, alter %2$I set storage %4$s, alter %2$I set statistics 0',
                   one.name, one.attname, one.type, one.storage);
  end loop;
end
$$;

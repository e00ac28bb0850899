-- Search by meaning: which articles still need a vector, where vectors are kept, what was found.

-- The promise of an embedding, made in the article's own transaction.
create table embeddings (
  seq           bigint primary key,
  due_at        timestamptz(3) not null,
  claimed_until timestamptz(3),             -- in a work queue, in hand, or waiting to be tried again
  embedded_at   timestamptz(3),             -- its vector is in every collection of `vector_collections`
  attempts      int not null default 0,     -- refused so often; an outage does not count
  failed_at     timestamptz(3),             -- quarantined: refused again and again
  error         text,
  -- The page that the article was made of: its number is the name under which an article can be
  -- followed through the logs of all services. Null: it came with an archive.
  page_no       bigint
);
create index embeddings_due on embeddings (due_at) where embedded_at is null and failed_at is null;
create index embeddings_failed on embeddings (failed_at) where failed_at is not null;

-- Collections of the vector store. One serves; one may be filled beside it to take its place
-- (`npm run reembed`); what has had its time is removed by an embedder.
create table vector_collections (
  name          text primary key,           -- in the vector store
  state         text not null check (state in ('serving', 'filling', 'retired')),
  model         text not null,
  recipe        int not null,               -- what of an article is embedded, and how (shared/embeddings/recipe.ts)
  dimensions    int not null,
  api           text,                       -- endpoint of the model; null: as EMBEDDINGS_API and EMBEDDINGS_URL say
  url           text,
  filled_to     bigint not null default 0,  -- articles up to here that were embedded before it have their vector in it too
  registered_at timestamptz(3) not null default clock_timestamp(),
  changed_at    timestamptz(3) not null default clock_timestamp() -- of its state
);
create unique index vector_collections_one on vector_collections (state) where state <> 'retired';

-- Candidate sets of semantic searches (decision 28).
create table semantic_sets (
  set_id     text primary key,               -- digest of all that follows but `made_at`: equal sets are one
  question   bytea not null,                 -- digest of collection, query and coverage
  made_at    timestamptz(3) not null,
  seqs       bigint[] not null,              -- best first
  relevances smallint[] not null             -- × 10,000
);
-- Nobody asks for rows by these elements, and ANALYZE would count 500 in each row every minute.
alter table semantic_sets
  alter column seqs set statistics 0,
  alter column relevances set statistics 0;
create index semantic_sets_question on semantic_sets (question, made_at desc);
create index semantic_sets_made on semantic_sets (made_at);

-- Keeps the candidates of a question, or names the set that another process kept a moment before:
-- one round trip instead of five. Each statement in it sees what was committed while it waited for
-- the lock. A crash of the server within the second may lose a set, which costs a client a new
-- beginning; nobody waits for the disk.
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

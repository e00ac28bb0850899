-- When an operator removed a citation (npm run cite -- remove): its address stays, and says so. Its
-- search and its articles are gone from the row. Null: it is there.
alter table citations add column removed_at timestamptz(3);

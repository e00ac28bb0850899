-- An alert may tell only what was published within so many days before it came; null: all. So what
-- outlets had before they were added does not flood it.
alter table search_alerts add column within_days int check (within_days between 1 and 3650);

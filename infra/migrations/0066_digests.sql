-- Weekly digests, the language of mails, and how many articles a message is about
-- (shared/desk/alerts/alerts.ts).

alter table search_alerts add column told_on text,                       -- a weekday, as `monday`; null: each day
                          add column language text not null default 'en'; -- of its mails
-- Of these articles a message tells each text once. Null: an older version wrote it.
alter table alert_messages add column found int;

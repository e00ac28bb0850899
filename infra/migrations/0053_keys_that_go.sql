-- Citations, and refusals of mails, outlive the key that made them (shared/desk/of-key.ts).
alter table citations drop constraint citations_key_id_fkey;
alter table alert_asks drop constraint alert_asks_key_id_fkey;

-- Alerts tell that articles of which they told were taken out (shared/desk/alerts/messages.ts).
alter table alert_messages
  drop constraint alert_messages_kind_check,
  add constraint alert_messages_kind_check check (kind in ('articles', 'test', 'ask', 'removed'));

-- The messages that told of an article.
create index alert_messages_seqs on alert_messages using gin (seqs);

-- Mails that asked owners of addresses, and what owners refused: it outlives alerts (shared/plans/alerts.ts).
create table alert_asks (
  told_to  text not null,                   -- in small letters
  key_id   text not null references api_keys,
  refused  boolean not null default false,
  asked_at timestamptz(3) not null default now()
);
create index alert_asks_to on alert_asks (told_to);
create index alert_asks_key on alert_asks (key_id, asked_at);

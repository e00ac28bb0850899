-- Whom kept searches tell what is new (shared/plans/alerts.ts).
create table search_alerts (
  search_id     text primary key references kept_searches on delete cascade,
  alert_id      text not null unique,
  key_id        text not null references api_keys,
  told_to       text not null,
  told_when     text not null,              -- `at once`, or `HH:MM`
  time_zone     text not null,
  seq           bigint not null,            -- its place: told up to here
  at            timestamptz(3) not null,
  due_at        timestamptz(3) not null default now(), -- when it is looked what is new
  asked_at      timestamptz(3),             -- a mail asked the owner of the address
  confirmed_at  timestamptz(3),             -- null: nothing is told yet
  rests         text,                       -- why it rests
  failing_since timestamptz(3),
  failure       text,
  delivered_at  timestamptz(3),
  created_at    timestamptz(3) not null default now()
);
create index search_alerts_due on search_alerts (due_at) where rests is null and confirmed_at is not null;
create index search_alerts_key on search_alerts (key_id);

-- What is to be told. One message of an alert is open at a time, so they arrive in order.
create table alert_messages (
  message_id   text primary key,
  alert_id     text not null references search_alerts (alert_id) on delete cascade,
  kind         text not null check (kind in ('articles', 'test', 'ask')),
  seqs         bigint[] not null,
  more         int not null,
  seq          bigint,                      -- the place of the alert once it is delivered
  at           timestamptz(3),
  try_at       timestamptz(3) not null default now(),
  created_at   timestamptz(3) not null default now(),
  delivered_at timestamptz(3)
);
create unique index alert_messages_open on alert_messages (alert_id) where delivered_at is null and kind = 'articles';
create index alert_messages_due on alert_messages (try_at) where delivered_at is null;
create index alert_messages_told on alert_messages (alert_id, delivered_at);

-- Mails that asked owners of addresses, and what owners refused: it outlives alerts (shared/plans/alerts.ts).
create table alert_asks (
  told_to  text not null,                   -- in small letters
  key_id   text not null references api_keys,
  refused  boolean not null default false,
  asked_at timestamptz(3) not null default now()
);
create index alert_asks_to on alert_asks (told_to);
create index alert_asks_key on alert_asks (key_id, asked_at);

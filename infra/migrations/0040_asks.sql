-- An agreement belongs to what was asked (shared/desk/alerts/consent.ts).
alter table alert_asks
  add column ask_id      text unique,                 -- of the message that asked; null: an older version asked
  add column address     text,                        -- that was asked, in small letters; `told_to` only counts
  add column alerts      text[] not null default '{}', -- that the mail named
  add column answered_at timestamptz(3);              -- its link has been used

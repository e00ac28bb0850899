-- Subscriptions to hubs (W3C WebSub): a hub tells us when a feed has changed, and its next poll comes at once.

create table websub_subscriptions (
  feed_no     int primary key references feeds on delete cascade,
  hub         text not null,
  topic       text not null,                             -- the feed, as the hub knows it
  token       text not null unique,                      -- the secret end of our address for the hub
  secret      text not null,                             -- signs what the hub sends
  state       text not null default 'wanted' check (state in ('wanted', 'asked', 'active', 'denied')),
  next_try_at timestamptz(3) not null default now(),     -- when the hub is asked, or asked again
  failures    int not null default 0,                    -- requests in a row that the hub did not confirm
  lease_until timestamptz(3),
  rung_at     timestamptz(3),                            -- the last time the hub told of a change
  last_error  text
) with (fillfactor = 70);                                -- updated with every change of its feed, in place

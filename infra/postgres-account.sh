#!/bin/bash
# The image of Postgres runs this once, when it makes its data. The services get an account that owns their database and is no
# superuser: what a restored backup holds runs with its rights. After that the superuser has no password, so it enters only
# over the socket inside its own container.
set -euo pipefail
psql --no-psqlrc --quiet --set=ON_ERROR_STOP=1 --set=password="$POSTGRES_PASSWORD" --username="$POSTGRES_USER" --dbname=postgres <<'SQL'
create role perscope login password :'password';
grant pg_monitor to perscope;
create database perscope owner perscope;
alter role current_user password null;
SQL

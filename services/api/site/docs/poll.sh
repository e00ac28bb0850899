#!/bin/sh
# Prints every article once, oldest first, and keeps its place in the files place and seen.
# Needs curl and jq.
set -eu
touch place seen
# The first time there is no place: the poll begins with all that the plan covers.
after=$(cat place)
cursor=
while :; do
  curl --silent --show-error --fail-with-body --max-time 30 --retry 5 --get "$PERSCOPE_URL/v1/articles" \
    --header "Authorization: Bearer $PERSCOPE_KEY" \
    --data sort=ingested_at --data order=asc --data per_page=100 \
    ${after:+--data ingested_after="$after"} ${cursor:+--data cursor="$cursor"} >page.json
  jq --raw-output '.articles[] | [.ingested_at, .id, .title] | @tsv' page.json >page.tsv
  # The bound is inclusive: articles of the place's moment come again.
  grep --invert-match --fixed-strings --file=seen page.tsv || true
  if [ -s page.tsv ]; then
    tail -n 1 page.tsv | cut -f 1 >place
    { cat seen && awk -F '\t' '{ print $1 FS $2 FS }' page.tsv; } |
      grep --fixed-strings --file=place | sort -u >seen.new
    mv seen.new seen
  fi
  cursor=$(jq --raw-output '.next_cursor // empty' page.json)
  [ -n "$cursor" ] || break
done

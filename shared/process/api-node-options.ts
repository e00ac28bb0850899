/**
 * What Node is told where it runs an API. V8 collects garbage with four helper threads, and a
 * request waits until all of them are done. Where there are not as many free cores, they wait for
 * one another: with one helper the p99 of a mixed load on two cores is a half to a seventh
 * (`docs/experiments/2026-11-24-tails.md`). An API has a process for each core, so one is enough.
 * It can only be said on the command line: package.json, docker-compose.yml, infra/Dockerfile and
 * infra/ha/systemd have it too.
 */
export const API_NODE_OPTIONS = ['--v8-pool-size=1']

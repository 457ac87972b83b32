#!/bin/sh
# Is there a redis-server for the examples that ask one? On a Debian-like machine, as root, it is installed where it is
# missing. Nothing fails without it: these tests are skipped.
set -eu
command -v redis-server >/dev/null 2>&1 && exit 0
if command -v apt-get >/dev/null 2>&1 && [ "$(id -u)" = 0 ]; then
    echo "installing redis-server, which examples need ..."
    { apt-get update -qq && apt-get install -y -qq --no-install-recommends redis-server; } >/dev/null 2>&1 || true
fi
command -v redis-server >/dev/null 2>&1 || echo "no redis-server: the tests in examples/ that ask one are skipped" >&2
exit 0

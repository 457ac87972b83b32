#!/bin/sh
# Is there a redis-server for the topic-count example? On a Debian-like machine, as root, it is installed where it is
# missing. Nothing fails without it: the example is skipped.
set -eu
command -v redis-server >/dev/null 2>&1 && exit 0
if command -v apt-get >/dev/null 2>&1 && [ "$(id -u)" = 0 ]; then
    echo "installing redis-server, which an example needs ..."
    { apt-get update -qq && apt-get install -y -qq --no-install-recommends redis-server; } >/dev/null 2>&1 || true
fi
command -v redis-server >/dev/null 2>&1 || echo "no redis-server: examples/test_topic_count.py is skipped" >&2
exit 0

#!/bin/sh
# Is there a Java 17 or later for Spark? On a Debian-like machine, as root, it is installed where it is missing.
set -eu
java=${JAVA_HOME:+$JAVA_HOME/bin/}java
version() { "$java" -version 2>&1 | sed -n 's/.*version "\([0-9]*\).*/\1/p' | head -n 1; }
found=$(version || true)
[ "${found:-0}" -ge 17 ] 2>/dev/null && exit 0
if command -v apt-get >/dev/null 2>&1 && [ "$(id -u)" = 0 ] && [ -z "${JAVA_HOME:-}" ]; then
    echo "installing openjdk-17-jre-headless, which Spark needs ..."
    { apt-get update -qq && apt-get install -y -qq --no-install-recommends openjdk-17-jre-headless; } >/dev/null || true
    found=$(version || true)
    [ "${found:-0}" -ge 17 ] 2>/dev/null && exit 0
fi
echo "Spark needs Java 17 or later, found ${found:-none}: install it (Debian, Ubuntu: sudo apt-get install openjdk-17-jre-headless; macOS: brew install openjdk@17) or set JAVA_HOME" >&2
exit 1

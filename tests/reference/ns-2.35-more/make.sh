#!/bin/sh
# Makes the traces anew from cases.txt; needs ns (Debian package ns2, 2.35) and awk.
# Event traces: sends (enqueue at FH), arrivals at MH, ACKs at FH, drops. State: each assignment; rtt_ in seconds.
set -e
cd "$(dirname "$0")"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
while read -r name variant age settings; do
    # shellcheck disable=SC2086
    ns run.tcl "$tmp/run" "$variant" "$age" $settings
    awk 'BEGIN { print "time_s,event,packet" }
        function row(event) { print $2 "," event "," $11 }
        $1 == "+" && $3 == 0 && $5 == "tcp" { row("send") }
        $1 == "r" && $4 == 2 && $5 == "tcp" { row("arrive") }
        $1 == "r" && $4 == 0 && $5 == "ack" { row("ack") }
        $1 == "d" { row($5 == "tcp" ? "drop" : "drop_ack") }' "$tmp/run.tr" | gzip -9n > "$name.csv.gz"
    awk 'BEGIN { print "time_s,variable,value" } NF == 7 { print $1 "," $6 "," $7 }' "$tmp/run.st" | gzip -9n > "${name}_state.csv.gz"
done < cases.txt

#!/bin/bash
# The commands of an operator's first hour, one by one, on the release build: each command, the beginning of its output,
# its exit code, its lines and its widest line at 80 columns. To be read by who changed screens; it decides nothing.
# usage: xtask/first-hour.sh [SECTION ...] > first-hour.txt      sections: load web kv runtime boxes cmd logs store help report
# Needs nginx, redis, chromium, a JDK and root (for a small file system). It takes about 20 minutes.
set -u
B=${BOXSCORE:-$(dirname "$0")/../target/release/boxscore}
B=$(realpath "$B") || exit 1
W=$(mktemp -d /tmp/first-hour.XXXXXX)
export XDG_DATA_HOME=$W/data COLUMNS=80 LC_ALL=C.UTF-8
mkdir -p "$W/data" && cd "$W" || exit 1
STARTED=""
trap 'for p in $STARTED; do kill "$p" 2>/dev/null; done; mountpoint -q "$W/small" && umount "$W/small"; rm -rf "$W"' EXIT

say() { printf '\n######## %s\n' "$*"; }
# L lines of stdout and M of stderr are shown.
run() {
  printf '$ %s\n' "$*" | sed "s#$B#boxscore#g"
  timeout 600 "$@" >out 2>err
  rc=$?
  head -"${L:-14}" out
  grep -v '^ *$' err | head -"${M:-5}" | sed 's/^/  2> /'
  printf '  [exit %s, %s lines, widest %s; stderr %s lines, widest %s]\n' "$rc" "$(wc -l <out)" "$(wc -L <out)" \
    "$(wc -l <err)" "$(wc -L <err)"
}
wanted() { [ "${#SECTIONS[@]}" -eq 0 ] || [[ " ${SECTIONS[*]} " == *" $1 "* ]]; }
SECTIONS=("$@")

start_nginx() {
  mkdir -p ng
  cat >ng/nginx.conf <<C
worker_processes 2; pid $W/ng/pid; error_log $W/ng/err; events { worker_connections 4096; }
http { access_log off; client_body_temp_path $W/ng/b; proxy_temp_path $W/ng/p; fastcgi_temp_path $W/ng/f;
uwsgi_temp_path $W/ng/u; scgi_temp_path $W/ng/s; server { listen 127.0.0.1:8088; location / { return 200 "hello\n"; } } }
C
  nginx -c "$W/ng/nginx.conf" && sleep 1
  STARTED="$STARTED $(cat ng/pid)"
}

if wanted load || wanted web; then start_nginx; fi
U=http://127.0.0.1:8088/
if wanted load; then
  say "A1 the server's workers on the generator's core, then on all"
  for p in $(pgrep -P "$(cat ng/pid)"); do taskset -pc 1 "$p" >/dev/null; done
  run "$B" load $U -d 3s -c 50
  for p in $(pgrep -P "$(cat ng/pid)"); do taskset -pc 0,1 "$p" >/dev/null; done
  run "$B" load $U -d 3s -c 50
  say "A6 loads of other addresses, lengths and connections are compared"
  run "$B" load $U -d 2s --label x1
  run "$B" load http://localhost:8088/ -d 3s -c 20 --label x2
  L=25 run "$B" compare x1 x2
  say "A15 overload"
  run "$B" load $U -r 200000 -d 5s
  say "wrong input"
  run "$B" load $U -d 1s -H bad
  run "$B" load http://127.0.0.1:1/ -d 1s
fi
if wanted web; then
  say "A7 A8 A11 A12 web, and the goal"
  L=60 run "$B" run web --quick --no-report
  L=30 run "$B" run web --slo p99=20ms --url $U --quick --no-report
  L=30 run "$B" run web --url $U --scan connections=1,10,50,200,800 --quick --no-report
fi
if wanted kv; then
  say "B4 is Redis fast here?"
  L=24 run "$B" run kv --quick --no-report
  redis-server --port 6399 --save '' --appendonly no >/dev/null 2>&1 &
  redis=$!
  STARTED="$STARTED $redis"
  sleep 1
  run "$B" load redis://127.0.0.1:6399 -d 3s
  kill "$redis"
fi
if wanted runtime; then
  say "B5 is Java ready?"
  L=30 run "$B" run runtime --lang c,java --quick --no-report
fi
if wanted boxes; then
  say "A3 A4 two boxes, one of one CPU; A2 B6 B7 directions"
  L=45 run "$B" run --quick --via big="$B" --via small="taskset -c 0 nice -n 10 $B" --price big=0.19/h \
    --price small=0.08/h --no-report
  L=40 run "$B" compare big small
  L=12 run "$B" show small
  L=25 run "$B" compare . ref-epyc-2c
  say "A9 the mark of doubt"
  L=40 run "$B" run --quick --no-report
  L=40 run "$B" show latest
  run "$B" history --metric cpu-integer --trend
fi
if wanted cmd; then
  say "A10 A14 a command of the user's"
  L=20 run "$B" run --cmd true --takes 6 --no-report
  run "$B" run --cmd 'sleep 0.05' --takes 8 --no-report
  L=30 run "$B" run --cmd a='sleep 0.01' --cmd b='sleep 0.02' --takes 10 --no-report
  say "A13 history at 80 columns; hide and remove"
  run "$B" history
  one=$("$B" history | awk '$1 ~ /^[0-9a-f]+$/ { print $1; exit }')
  run "$B" hide "$one"
  run "$B" remove "$one" --yes
fi
if wanted logs; then
  python3 - <<'P'
import datetime, random
random.seed(1)
for name, factor in (('a', 1.0), ('b', 1.3)):
    with open(name + '.log', 'w') as out:
        start = datetime.datetime(2026, 5, 1)
        for n in range(60000):
            at = start + datetime.timedelta(seconds=n * 172800 / 60000)
            path = random.choice(['/', '/item/%d' % random.randint(1, 99), '/search'])
            status = random.choices([200, 404, 503], [980, 15, 5])[0]
            took = .02 * factor * random.lognormvariate(0, .6)
            out.write('10.0.0.%d - - [%s +0000] "GET %s HTTP/1.1" %d %d "-" "Mozilla/5.0" %.3f\n' % (
                random.randint(1, 99), at.strftime('%d/%b/%Y:%H:%M:%S'), path, status, 9000 if status == 200 else 190, took))
P
  say "B2 B3 A15 access logs"
  L=60 run "$B" logs a=a.log b=b.log
  L=30 run "$B" logs a=a.log b=b.log --by day,status --no-store
  run "$B" logs a=a.log b=b.log --profile-out m.json
  run "$B" logs a.log
  run "$B" show latest
fi
if wanted store; then
  say "A5 full disk"
  mkdir -p small
  if mount -t tmpfs -o size=2600k none small; then
    run "$B" --store small/s.db run cpu --takes 2 --quick --no-report
    mount -o remount,size=40m small
    run "$B" --store small/s.db history
    run "$B" --store small/s.db resume
    umount small
  fi
  say "A15 a store that may not be read, or is not there"
  "$B" --store "$W/x.db" history >/dev/null 2>&1
  touch "$W/x.db" && chmod 600 "$W/x.db" && chmod 755 "$W"
  install -m 755 "$B" "$W/boxscore"
  run setpriv --reuid=65534 --clear-groups env HOME="$W" "$W/boxscore" --store "$W/x.db" history
  run "$B" --store /nonexistent/x/y history
fi
if wanted help; then
  say "B12 help and slips"
  for words in help 'help run' version rnu 'run --quik' 'run cpux' 'inspect nosuch' 'compare nosuch' 'show 12345'; do
    # shellcheck disable=SC2086
    L=8 run "$B" $words
  done
fi
if wanted report; then
  say "B13 pages of print"
  [ -n "$("$B" history 2>/dev/null | sed -n 2p)" ] || "$B" run --quick --no-report >/dev/null 2>&1
  run "$B" report latest -o page.html
  run "$B" report latest --summary -o summary.html
  for page in page summary; do
    chromium --headless=new --no-sandbox --print-to-pdf=$page.pdf "file://$W/$page.html" >/dev/null 2>&1
    echo "$page.html: $(grep -ac '/Type */Page\b' $page.pdf) pages of print"
  done
fi

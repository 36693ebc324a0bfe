#!/bin/sh
# Runs as root inside a booted systemd, with the checkout at /src and dreamd installed in /opt/dreamd.
set -eu
day=$(date -u -d yesterday +%F)
useradd --system --create-home --home-dir /srv/agent dreamd
mkdir -p /etc/dreamd /srv/agent/logs /srv/agent/work
cat >/srv/agent/logs/0c0ffee0-0000-4000-8000-000000000001.jsonl <<LOG
{"parentUuid":null,"isSidechain":false,"userType":"external","cwd":"/p","sessionId":"s1","version":"2.1.226","type":"user","message":{"role":"user","content":"How long is the bridge?"},"uuid":"0c0ffee0-0000-4000-8000-000000000002","timestamp":"${day}T09:00:00.000Z"}
{"parentUuid":"0c0ffee0-0000-4000-8000-000000000002","isSidechain":false,"userType":"external","cwd":"/p","sessionId":"s1","version":"2.1.226","type":"assistant","message":{"id":"m1","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"It is 320 metres long."}],"stop_reason":"end_turn"},"uuid":"0c0ffee0-0000-4000-8000-000000000003","timestamp":"${day}T09:01:00.000Z"}
LOG
chown -R dreamd: /srv/agent
cat >/etc/dreamd/config.toml <<CONFIG
[agents.anna]
format = "claude_code"
logs = ["/srv/agent/logs"]
workspace = "/srv/agent/work"
zone = "UTC"
CONFIG
sed 's|^#ReadWritePaths=.*|ReadWritePaths=/srv/agent|' /src/deploy/dreamd.service >/etc/systemd/system/dreamd.service
systemctl daemon-reload

pid() { systemctl show -P MainPID dreamd; }
until_true() { for _ in $(seq 100); do if "$@"; then return 0; fi; sleep 0.1; done; echo "never: $*"; journalctl -u dreamd --no-pager -o cat | tail -20; exit 1; }

echo "== starts, and systemctl returns when it is ready"
systemctl start dreamd
systemctl is-active dreamd
systemctl show -P StatusText dreamd
stat -c '%a %U %n' /var/lib/dreamd /var/lib/dreamd/pool.db

echo "== runs the night that was missed"
until_true test -s "/srv/agent/work/memory/$day.md"
cat "/srv/agent/work/memory/$day.md"

echo "== is started again when it is killed"
before=$(pid)
systemctl kill -s KILL dreamd
restarted() { [ "$(systemctl is-active dreamd)" = active ] && [ "$(pid)" != "$before" ] && [ "$(pid)" != 0 ]; }
until_true restarted
systemctl show -P NRestarts dreamd
grep -c 320 "/srv/agent/work/memory/$day.md"

echo "== reloads, and refuses a bad configuration"
before=$(pid)
systemctl reload dreamd
echo 'nihgt = 1' >>/etc/dreamd/config.toml
systemctl reload dreamd
until_true sh -c 'journalctl -u dreamd -o cat | grep -q config.refused'
[ "$(pid)" = "$before" ] && systemctl is-active dreamd
sed -i '/nihgt/d' /etc/dreamd/config.toml

echo "== a hung process is ended by the watchdog"
grep -q '^WatchdogSec=' /etc/systemd/system/dreamd.service
mkdir -p /etc/systemd/system/dreamd.service.d
printf '[Service]\nWatchdogSec=2s\n' >/etc/systemd/system/dreamd.service.d/quick.conf
systemctl daemon-reload
systemctl restart dreamd
sleep 5
systemctl is-active dreamd
before=$(pid)
systemctl kill -s STOP dreamd
until_true restarted

echo "== says how things stand"
sudo=$(command -v setpriv)
$sudo --reuid dreamd --regid dreamd --clear-groups env STATE_DIRECTORY=/var/lib/dreamd /opt/dreamd/bin/dreamd --config /etc/dreamd/config.toml status --running

echo "== stops in time"
systemctl stop dreamd
systemctl show -P Result dreamd
systemctl is-active dreamd || true
journalctl -u dreamd --no-pager -o cat | grep -o '"event": *"daemon.stopped"' | tail -1
echo "== seen"

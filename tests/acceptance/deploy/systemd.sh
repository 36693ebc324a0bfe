#!/bin/sh
# Runs as root inside a booted systemd, with the checkout at /src and dreamd installed in /opt/dreamd.
set -eu
day=$(date -u -d yesterday +%F)
install -D -m 644 /src/deploy/dreamd.sysusers /etc/sysusers.d/dreamd.conf
systemd-sysusers
groupadd agents
useradd --create-home --groups agents --shell /bin/sh anna
mkdir -p /etc/dreamd /srv/agent/logs /srv/agent/work
cat >/srv/agent/logs/0c0ffee0-0000-4000-8000-000000000001.jsonl <<LOG
{"parentUuid":null,"isSidechain":false,"userType":"external","cwd":"/p","sessionId":"s1","version":"2.1.226","type":"user","message":{"role":"user","content":"How long is the bridge?"},"uuid":"0c0ffee0-0000-4000-8000-000000000002","timestamp":"${day}T09:00:00.000Z"}
{"parentUuid":"0c0ffee0-0000-4000-8000-000000000002","isSidechain":false,"userType":"external","cwd":"/p","sessionId":"s1","version":"2.1.226","type":"assistant","message":{"id":"m1","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"It is 320 metres long."}],"stop_reason":"end_turn"},"uuid":"0c0ffee0-0000-4000-8000-000000000003","timestamp":"${day}T09:01:00.000Z"}
LOG
# the agent's own files, which its group may read and write
chown -R anna:agents /srv/agent
chmod -R g+rwX /srv/agent
cat >/etc/dreamd/config.toml <<CONFIG
[agents.anna]
format = "claude_code"
logs = ["/srv/agent/logs"]
workspace = "/srv/agent/work"
zone = "UTC"
CONFIG
install -m 644 /src/deploy/dreamd.service /etc/systemd/system/
mkdir -p /etc/systemd/system/dreamd.service.d
usermod -aG agents dreamd
printf '[Service]\nReadWritePaths=/srv/agent\n' >/etc/systemd/system/dreamd.service.d/agents.conf
systemctl daemon-reload

pid() { systemctl show -P MainPID dreamd; }
until_true() { for _ in $(seq 100); do if "$@"; then return 0; fi; sleep 0.1; done; echo "never: $*"; journalctl -u dreamd --no-pager -o cat | tail -20; exit 1; }

echo "== starts, and systemctl returns when it is ready"
systemctl start dreamd
systemctl is-active dreamd
echo "runs as $(stat -c %U "/proc/$(pid)")"
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
printf '[Service]\nWatchdogSec=2s\n' >/etc/systemd/system/dreamd.service.d/quick.conf
systemctl daemon-reload
systemctl restart dreamd
sleep 5
systemctl is-active dreamd
before=$(pid)
systemctl kill -s STOP dreamd
until_true restarted

echo "== says how things stand"
setpriv --reuid dreamd --regid dreamd --init-groups env STATE_DIRECTORY=/var/lib/dreamd /opt/dreamd/bin/dreamd --config /etc/dreamd/config.toml status --running

echo "== stops in time"
systemctl stop dreamd
systemctl show -P Result dreamd
systemctl is-active dreamd || true
journalctl -u dreamd --no-pager -o cat | grep -o '"event": *"daemon.stopped"' | tail -1

echo "== does not go on starting with a configuration that cannot be used"
echo 'nihgt = 1' >>/etc/dreamd/config.toml
systemctl start dreamd || true
systemctl show -P ExecMainStatus,NRestarts,Result dreamd | paste -sd ' '

echo "== runs as a person's own service on what is in their home"
as_anna() { setpriv --reuid anna --regid anna --init-groups env HOME=/home/anna XDG_RUNTIME_DIR="/run/user/$(id -u anna)" "$@"; }
mkdir -p /home/anna/.claude/projects/p /home/anna/.config/systemd/user /home/anna/.config/dreamd /home/anna/work
cp /srv/agent/logs/*.jsonl /home/anna/.claude/projects/p/
install -m 644 /src/deploy/dreamd.user.service /home/anna/.config/systemd/user/dreamd.service
printf '[agents.anna]\nformat = "claude_code"\nworkspace = "/home/anna/work"\nzone = "UTC"\n' >/home/anna/.config/dreamd/config.toml
chown -R anna: /home/anna
chmod 700 /home/anna
# what pam_systemd does where it is installed
mkdir -p "/etc/systemd/system/user@.service.d"
printf '[Service]\nEnvironment=XDG_RUNTIME_DIR=/run/user/%%i\n' >"/etc/systemd/system/user@.service.d/runtime.conf"
systemctl daemon-reload
systemctl start "user@$(id -u anna).service"
as_anna systemctl --user enable --now dreamd
until_true test -s "/home/anna/work/memory/$day.md"
as_anna /opt/dreamd/bin/dreamd status --running | head -4
as_anna systemctl --user stop dreamd
as_anna systemctl --user show -P Result dreamd
echo "== seen"

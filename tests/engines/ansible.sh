#!/bin/bash
# Runs the playbook, pdsh and clush against three hosts: this one, and two network namespaces of their own
# with an sshd each, started here and ended by their process ids. A fourth host of the inventory is not there.
#
#   apt-get install -y --no-install-recommends openssh-server openssh-client iproute2 pdsh clustershell
#   cargo build && cargo build --example make_fixture
#   tests/engines/ansible.sh
set -uo pipefail
. "$(dirname "$0")/lib.sh"
for program in sshd ip pdsh clush unshare; do
    command -v $program >/dev/null || [ -x /usr/sbin/$program ] || { echo "skipped: $program is not installed"; exit 0; }
done
[ "$(id -u)" -eq 0 ] || { echo "skipped: namespaces have to be made by root"; exit 0; }
playbook=${ANSIBLE_PLAYBOOK:-ansible-playbook}
if ! command -v "$playbook" >/dev/null; then
    { python3 -m venv "$work/venv" && "$work/venv/bin/pip" install -q ansible-core; } >"$work/pip" 2>&1 ||
        { echo "skipped: ansible-core cannot be installed: $(tail -n 1 "$work/pip")"; exit 0; }
    playbook=$work/venv/bin/ansible-playbook
fi
unset ASCEND_DOCTOR
mkdir -p "$work"/{machines,bin,run}
machine ok-host-910b nodea 1
machine dev-count nodeb 2
sed -i 's/10\.20\.2\.15/10.20.1.15/' "$work/machines/nodeb/etc/hccn.conf"

# Each namespace has a name and an address of its own, and sees a tree of its own as the machine.
ssh-keygen -q -t ed25519 -N '' -f "$work/key"
ssh-keygen -q -t ed25519 -N '' -f "$work/hostkey"
chmod 755 "$work"
cp "$work/key.pub" "$work/authorized"
cat >"$work/sshd_config" <<EOF
HostKey $work/hostkey
AuthorizedKeysFile $work/authorized
StrictModes no
UsePAM no
PermitRootLogin prohibit-password
PidFile none
PermitUserEnvironment no
Subsystem sftp internal-sftp
EOF
mkdir -p /run/sshd
links=()
number=0
for host in nodea nodeb; do
    number=$((number + 1))
    ip link add "ad$number" type veth peer name "adp$number"
    # With numbers of processes of their own, so that sessions end with their sshd.
    unshare --net --uts --mount --pid --fork --kill-child sh -c "hostname $host; ip link set lo up; touch $work/run/$host; while [ ! -e $work/run/$host.go ]; do sleep 0.1; done; exec /usr/sbin/sshd -D -e -f $work/sshd_config -o SetEnv=ASCEND_DOCTOR_MACHINE=$work/machines/$host" 2>"$work/run/$host.log" &
    pids+=($!)
    await 10 test -e "$work/run/$host"
    inner=$(pgrep -P "${pids[-1]}" | head -n 1)
    ip link set "adp$number" netns "$inner"
    nsenter -t "$inner" -n sh -c "ip addr add 10.231.$number.2/24 dev adp$number; ip link set adp$number up"
    ip addr add "10.231.$number.1/24" dev "ad$number"
    ip link set "ad$number" up
    links+=("ad$number")
    touch "$work/run/$host.go"
    await 10 "exec 3<>/dev/tcp/10.231.$number.2/22"
done
cleanup() { for link in "${links[@]}"; do ip link del "$link" 2>/dev/null; done; stop_all; }
trap cleanup EXIT

# What is copied to the hosts: the program, told which tree is the machine.
cat >"$work/bin/ascend-doctor" <<EOF
#!/bin/sh
case "\$1" in
check) [ -n "\${ASCEND_DOCTOR_MACHINE:-}" ] && exec "$doctor" "\$@" --sysroot "\$ASCEND_DOCTOR_MACHINE" ;;
esac
exec "$doctor" "\$@"
EOF
chmod +x "$work/bin/ascend-doctor"
cat >"$work/inventory" <<EOF
[npu]
nodea ansible_host=10.231.1.2
nodeb ansible_host=10.231.2.2
nodec ansible_host=10.231.1.77
[control]
localhost ansible_connection=local
[all:vars]
ansible_user=root
ansible_python_interpreter=$(command -v python3)
ansible_ssh_private_key_file=$work/key
ansible_ssh_common_args=-o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o ConnectTimeout=3 -o LogLevel=ERROR
EOF

heading "Ansible: two hosts, this one, and one that is not there"
export ANSIBLE_NOCOWS=1 ANSIBLE_FORCE_COLOR=0 ANSIBLE_LOCALHOST_WARNING=False ANSIBLE_DEPRECATION_WARNINGS=False
mkdir "$work/reports"
show "ASCEND_DOCTOR=$work/bin/ascend-doctor timeout 240 $playbook -i $work/inventory $project/deploy/ansible/fleet-check.yml -e reports=$work/reports"
expect 'FLEET-ADDRESS.*' "one address on two hosts"
expect 'DEV-COUNT. nodeb' "the finding of a host"
expect 'Expected hosts without a report.*nodec' "the host that is not there"
expect 'errors were found' "the play fails"
show "ls $work/reports"
expect 'nodea.json' "the reports are kept"

cat >"$work/ssh_config" <<EOF
Host nodea
  HostName 10.231.1.2
Host nodeb
  HostName 10.231.2.2
Host nodec
  HostName 10.231.1.77
Host *
  IdentityFile $work/key
  StrictHostKeyChecking no
  UserKnownHostsFile /dev/null
  LogLevel ERROR
  ConnectTimeout 3
EOF
heading "pdsh"
show "PDSH_SSH_ARGS_APPEND='-F $work/ssh_config' pdsh -R ssh -w nodea,nodeb,nodec $work/bin/ascend-doctor check --json 2>$work/pdsh.err | $doctor fleet merge - --expect <(echo nodea,nodeb,nodec) | head -n 40"
expect 'DEV-COUNT. nodeb' "the finding of a host"
expect 'without a report.*nodec' "the host that is not there"

heading "clush"
show "clush -o '-F $work/ssh_config' -w nodea,nodeb $work/bin/ascend-doctor check --json 2>/dev/null | $doctor fleet merge - --format line"
expect '^FLEET-ADDRESS' "one line"
finish

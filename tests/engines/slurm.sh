#!/bin/bash
# Runs the checks on a real Slurm: slurmctld, four slurmd and munge of Debian on this machine, started here
# and ended by their process ids. Each node sees another tree as its machine.
#
#   RUNLEVEL=1 apt-get install -y --no-install-recommends slurmctld slurmd slurm-client munge
#   cargo build && cargo build --example make_fixture
#   tests/engines/slurm.sh
set -uo pipefail
. "$(dirname "$0")/lib.sh"
for program in slurmctld slurmd munged srun scontrol; do
    command -v $program >/dev/null || { echo "skipped: $program is not installed"; exit 0; }
done
[ "$(id -u)" -eq 0 ] || { echo "skipped: slurmd has to be started by root"; exit 0; }

unset ASCEND_DOCTOR
chmod 755 "$work"
mkdir -p "$work"/{bin,state,spool,log,munge,machines}
machine ok-host-910b node1 1
machine ok-host-910b node2 2
machine ok-host-910b node3 3
machine dev-count node4 4
sed -i 's/10\.20\.3\.12/10.20.2.12/' "$work/machines/node3/etc/hccn.conf"

# The machine of a node is a tree of its own; that is all that sets this apart from a cluster.
cat >"$work/bin/ascend-doctor" <<EOF
#!/bin/sh
case "\$1" in check) exec "$doctor" "\$@" --sysroot "$work/machines/\${SLURMD_NODENAME:?}" ;; *) exec "$doctor" "\$@" ;; esac
EOF
chmod +x "$work/bin/ascend-doctor"
cat >"$work/defaults" <<EOF
ASCEND_DOCTOR=$work/bin/ascend-doctor
ASCEND_DOCTOR_TEXTFILE_DIR=
EOF
cat >"$work/bin/health" <<EOF
#!/bin/sh
export SLURM_CONF=$work/slurm.conf ASCEND_DOCTOR_DEFAULTS=$work/defaults
exec $project/deploy/slurm/ascend-doctor-health "\$@" 2>>$work/log/health.log
EOF
chmod +x "$work/bin/health"

host=$(hostname -s)
cat >"$work/slurm.conf" <<EOF
ClusterName=doctor
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=16817
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$work/munge/socket
CredType=cred/munge
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/spool/%n
SlurmctldPidFile=$work/ctld.pid
SlurmdPidFile=$work/slurmd-%n.pid
SlurmctldLogFile=$work/log/ctld.log
SlurmdLogFile=$work/log/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/linear
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
HealthCheckProgram=$work/bin/health
HealthCheckInterval=5
HealthCheckNodeState=ANY
NodeName=node[1-4] NodeHostname=$host NodeAddr=127.0.0.1 Port=[16821-16824] CPUs=1 State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES MaxTime=10 State=UP
EOF
export SLURM_CONF=$work/slurm.conf PATH=$work/bin:$PATH

dd if=/dev/urandom of="$work/munge/key" bs=128 count=1 status=none
chown -R munge: "$work/munge" 2>/dev/null
chmod 700 "$work/munge" && chmod 400 "$work/munge/key" && chmod 755 "$work/munge"
# munged wants directories that others cannot write; those of a test are below /tmp.
setpriv --reuid munge --regid munge --clear-groups munged --foreground --force --key-file="$work/munge/key" \
    --socket="$work/munge/socket" --pid-file="$work/munge/pid" --log-file="$work/munge/log" \
    --seed-file="$work/munge/seed" >"$work/log/munged" 2>&1 &
pids+=($!)
await 20 test -S "$work/munge/socket" || { cat "$work/log/munged" "$work/munge/log"; exit 1; }
slurmctld -D >"$work/log/ctld" 2>&1 &
pids+=($!)
for number in 1 2 3 4; do
    mkdir -p "$work/spool/node$number"
    slurmd -D -N node$number >"$work/log/node$number" 2>&1 &
    pids+=($!)
done

heading "A node is drained by its health check, with the finding as the reason"
await 60 "scontrol --oneliner show node node4 | grep -q 'Reason=ascend-doctor:'" ||
    { tail -5 "$work"/log/*; cat "$work/log/health.log"; }
show 'sinfo --Node --Format NodeList:8,StateCompact:8,Reason:100'
expect 'node4 .*drain.*ascend-doctor: DEV-COUNT' "node4 is drained, and by what"

heading "All nodes at once, merged on the way"
show "scontrol update nodename=node4 state=resume; sleep 1; srun --nodes=4 --label ascend-doctor check --json | ascend-doctor fleet merge -"
expect_status 1
expect 'FLEET-ADDRESS.*' "one address on two nodes"
expect 'node\[2-3\]' "the nodes are named"
expect '4 with reports' "all four answered"

heading "The same as a job"
await 60 "scontrol --oneliner show node node4 | grep -q 'Reason=ascend-doctor:'"
show "cd $work && scontrol update nodename=node4 state=resume; sbatch --wait --nodes=4 $project/deploy/slurm/fleet-check.sbatch; tail -n 4 fleet-check-*.out"
expect 'FLEET-ADDRESS' "the report of the job"

heading "The fault is put right: the health check resumes the node"
await 60 "scontrol --oneliner show node node4 | grep -q 'Reason=ascend-doctor:'"
rm -rf "$work/machines/node4"
machine ok-host-910b node4 4
await 60 "scontrol --oneliner show node node4 | grep -q 'State=IDLE '"
show 'sinfo --Node --Format NodeList:8,StateCompact:8,Reason:60'
expect 'node4 .*idle.*none' "node4 is idle again"

heading "As Prolog: a job does not start on a node with a finding"
rm -rf "$work/machines/node2"
machine dev-count node2 2
show "SLURMD_NODENAME=node2 SLURM_SCRIPT_CONTEXT=prolog_slurmd $work/bin/health"
expect_status 1
show "SLURMD_NODENAME=node1 SLURM_SCRIPT_CONTEXT=prolog_slurmd $work/bin/health"
expect_status 0

heading "A check that hangs drains nothing, and ends in time"
printf '#!/bin/sh\nsleep 600\n' >"$work/bin/hangs"
chmod +x "$work/bin/hangs"
printf 'ASCEND_DOCTOR=%s\nASCEND_DOCTOR_SECONDS=2\n' "$work/bin/hangs" >"$work/defaults"
show "time -p SLURMD_NODENAME=node1 $work/bin/health; scontrol --oneliner show node node1 | grep -o 'State=[A-Z]*'"
expect 'State=IDLE' "node1 is still there"
finish

# Succeeds where this user may make a control group with a memory limit and put a process into it.
v1=$(grep ':memory:' /proc/self/cgroup | cut -d: -f3-)
if [ -n "$v1" ]; then
    group=/sys/fs/cgroup/memory$v1/test-probe-$$
    mkdir "$group" && echo 64M >"$group/memory.limit_in_bytes"
    result=$?
    rmdir "$group"
    exit $result
fi
path=$(grep '^0::' /proc/self/cgroup | cut -d: -f3-)
while :; do
    group=/sys/fs/cgroup$path/test-probe-$$
    if mkdir "$group"; then
        echo 64M >"$group/memory.max" && sh -c 'echo $$ >"$1/cgroup.procs"' - "$group"
        result=$?
        rmdir "$group"
        [ $result = 0 ] && exit 0
    fi
    [ -n "$path" ] || exit 1
    path=${path%/*}
done

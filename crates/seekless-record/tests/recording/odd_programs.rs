//! Scripts that do what a wrapper of programs could disturb. The tests of the recorder and of
//! `seekless run` share them, and the modes of `odd.c`.

/// Scripts for the shell, beside the modes of `odd.c`.
pub(crate) const SHELL: [(&str, &str); 9] = [
    ("pipelines", "seq 1000 | sort -r | head -3; echo ${PIPESTATUS:-none}; false | true; echo $?"),
    ("traps", "trap 'echo bye; exit 9' TERM; trap 'echo left' EXIT; kill -TERM $$; echo never"),
    ("background jobs", "for n in 1 2 3; do (exit $n) & done; wait $!; echo $?; wait; echo $?"),
    (
        "death by signals",
        "for s in TERM ABRT KILL USR1; do (ulimit -c 0; sh -c \"kill -$s \\$\\$\"); echo $?; done",
    ),
    ("its own death", "echo first; kill -USR2 $$; echo never"),
    (
        "a stopped job",
        "sh -c 'kill -STOP $$; echo went on; exit 3' & sleep 0.3; kill -CONT $!; wait $!; echo $?",
    ),
    ("not found", "./gone; echo $?; nosuchprogram; echo $?; . ./gone"),
    (
        "redirections",
        "exec 3>&1 1>out 2>&1; echo hidden; echo seen >&3; exec 1>&3; cat out; exec <&-; cat",
    ),
    ("listings", "mkdir -p a/b; touch a/b/c .hidden; ls -aR; rm -r a; ls -a; cd ..; ls -a root"),
];

/// For Python.
pub(crate) const PYTHON: [(&str, &str); 5] = [
    (
        "subprocess",
        "import subprocess as s; print(s.run(['sh', '-c', 'echo $0; exit 3'], capture_output=True))",
    ),
    (
        "multiprocessing",
        "import multiprocessing as m\nif __name__ == '__main__':\n with m.Pool(4) as pool: print(sum(pool.map(abs, range(-99, 0))))",
    ),
    (
        "threads and sqlite",
        // One connection is for one thread at a time: without the lock a value may be lost.
        "import sqlite3, threading\nc = sqlite3.connect('db', check_same_thread=False)\nc.execute('create table t (n)')\n\
         lock = threading.Lock()\ndef add(n):\n with lock: c.execute('insert into t values (?)', (n,))\n\
         ts = [threading.Thread(target=add, args=(n,)) for n in range(9)]\n\
         [t.start() for t in ts]; [t.join() for t in ts]\nc.commit()\nprint(c.execute('select sum(n) from t').fetchone())",
    ),
    (
        "asyncio",
        "import asyncio\nasync def f():\n p = await asyncio.create_subprocess_exec('sh', '-c', 'echo out; exit 4', stdout=-1)\n \
         print(await p.communicate(), p.returncode)\nasyncio.run(f())",
    ),
    ("an error", "import sys; print('to err', file=sys.stderr); raise SystemExit(7)"),
];

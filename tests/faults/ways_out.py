"""The ways out of a container that a cell could try, as a program, and the errors that each may end with."""

OUT = """
import ctypes, errno, os, resource, socket, sys, time
libc = ctypes.CDLL(None, use_errno=True)
def told(name, call):
    try:
        result = call()
        number = ctypes.get_errno() if result == -1 else 0
    except (OSError, ValueError) as error:
        number = getattr(error, "errno", None) or errno.EPERM
    print(name, errno.errorcode.get(number, number))
def write(path, what=b"1"):
    def call():
        with open(path, "r+b", buffering=0) as file: file.write(what)
    return call
told("network", lambda: socket.create_connection(("192.0.2.1", 80), 1))
told("name", lambda: socket.create_connection(("example.org", 80), 1))
told("packet", lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW))
told("mount", lambda: libc.mount(b"none", b"/tmp", b"tmpfs", 0, None))
told("remount", lambda: libc.mount(b"none", b"/", None, 32 | 4096, None))
told("unshare", lambda: libc.unshare(0x10000000))
told("setns", lambda: libc.setns(os.open("/proc/1/ns/mnt", os.O_RDONLY), 0))
told("chroot", lambda: os.chroot("/tmp"))
told("mknod", lambda: os.mknod("/tmp/mem", 0o600 | 0o020000, os.makedev(1, 1)))
told("root", lambda: os.setuid(0))
told("read-only", lambda: open("/etc/x", "w"))
told("suites", lambda: open("/opt/torchmatrix/suites/x", "w"))
told("core", write("/proc/sys/kernel/core_pattern", b"|/tmp/x"))
told("sysrq", write("/proc/sysrq-trigger", b"b"))
for limit in ("memory.max", "memory/memory.limit_in_bytes"):
    told(f"cgroup {limit}", write(f"/sys/fs/cgroup/{limit}", b"-1"))
told("oom", write("/proc/self/oom_score_adj", b"-1000"))
told("rlimit", lambda: resource.setrlimit(resource.RLIMIT_CORE, (1, 1)))
told("kernel log", lambda: libc.klogctl(3, ctypes.create_string_buffer(9), 9))
told("docker", lambda: open("/var/run/docker.sock"))
told("disk", lambda: open("/dev/sda"))
told("memory", lambda: open("/dev/mem"))
libc.ptrace.restype = ctypes.c_long
libc.ptrace.argtypes = (ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p)
class Piece(ctypes.Structure): _fields_ = [("base", ctypes.c_void_p), ("size", ctypes.c_size_t)]
def read_memory(pid):
    held = ctypes.create_string_buffer(8)
    here, there = Piece(ctypes.addressof(held), 8), Piece(ctypes.addressof(held), 8)
    return libc.process_vm_readv(pid, ctypes.byref(here), ctypes.c_ulong(1), ctypes.byref(there), ctypes.c_ulong(1), 0)
told("ptrace of the init", lambda: libc.ptrace(16, 1, None, None))
try:
    os.waitpid(1, 0x40000000)  # __WALL: stopped by that
    libc.ptrace(17, 1, None, None)
except OSError: pass
told("memory of the init", lambda: read_memory(1))
told("ptrace of the host", lambda: libc.ptrace(16, HOST, None, None))
told("memory of the host", lambda: read_memory(HOST))
told("signal to the host", lambda: os.kill(HOST, 0))
child = os.fork()
if not child:
    while True: time.sleep(9)
told("ptrace of a child", lambda: libc.ptrace(16, child, None, None))
os.kill(child, 9)
print("sees", sorted(int(pid) for pid in os.listdir("/proc") if pid.isdigit()))
"""
REFUSED = {
    "network": {"ENETUNREACH"},
    "name": {"EAI_AGAIN", "-3", "-2"},
    "packet": {"EPERM"},
    "mount": {"EPERM"},
    "remount": {"EPERM"},
    "unshare": {"EPERM"},
    "setns": {"EPERM", "EACCES"},
    "chroot": {"EPERM"},
    "mknod": {"EPERM"},
    "root": {"EPERM"},
    "read-only": {"EROFS"},
    "suites": {"EROFS", "EACCES"},
    "core": {"EROFS", "EACCES"},
    "sysrq": {"EROFS", "EACCES", "ENOENT"},
    "cgroup memory.max": {"EROFS", "EACCES", "ENOENT"},
    "cgroup memory/memory.limit_in_bytes": {"EROFS", "EACCES", "ENOENT"},
    "oom": {"EACCES"},
    "rlimit": {"EPERM"},
    "kernel log": {"EPERM"},
    "docker": {"ENOENT", "EACCES"},
    "disk": {"ENOENT", "EACCES"},
    "memory": {"ENOENT", "EACCES"},
    # A process of the container's own, of the same user, may be traced in any container: since 19.03 Docker's profile
    # allows it where the kernel is 4.8 or later, which no longer lets a tracer past seccomp (moby#38137). A machine may
    # be stricter. What lies outside has no number in here that could be named.
    "ptrace of the init": {"0", "EPERM"},
    "ptrace of a child": {"0", "EPERM"},
    "memory of the init": {"0", "EPERM"},
    "ptrace of the host": {"ESRCH", "EPERM"},
    "memory of the host": {"ESRCH", "EPERM"},
    "signal to the host": {"ESRCH"},
}

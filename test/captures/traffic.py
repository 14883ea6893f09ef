#!/usr/bin/env python3
"""The traffic of tools/record-capture: its servers (role `wan`), its clients (role `lan`), and the few frames that
no socket of this kernel makes, sent raw (roles `lan` and `router`).

Run by tools/record-capture inside the network namespace of its role, never by hand. Everything is paced: the whole
session takes about 25 seconds and stays under 8,000 frames, so that the capture can live in the repository. Ports,
sizes and starting times are fixed, jitter comes from fixed seeds; only the kernel's own timing differs from one
recording to the next.
"""

import os
import random
import signal
import socket
import struct
import subprocess
import sys
import threading
import time

LAN_HOSTS = ("192.168.1.10", "192.168.1.11", "192.168.1.12")
SERVER = "192.0.2.10"
DNS_SERVER = "192.0.2.53"
SILENT = "192.0.2.99"  # the far side drops everything for it
ABSENT = "198.51.100.77"  # on the router's WAN link, but nobody answers its ARP
LAN_HOST6 = "2001:db8:1::10"
SERVER6 = "2001:db8:2::10"

HTTP, LOSSY_HTTP, SHELL, CLOSED = 80, 8080, 2222, 81  # tools/record-capture drops one in 60 from LOSSY_HTTP
DNS, MEDIA, SINK, BIG, UDP_CLOSED = 53, 5004, 5005, 5006, 5007

MAC_LAN = bytes.fromhex("00005e005310")
MAC_ROUTER_LAN = bytes.fromhex("00005e005301")


# ---------------------------------------------------------------- servers


def read_head(sock):
    head = b""
    while b"\r\n\r\n" not in head:
        part = sock.recv(4096)
        if not part:
            return ""
        head += part
    return head.decode("ascii")


def paced_answer(sock):
    """GET /BYTES/CHUNK/GAP_MS: BYTES of body, CHUNK at a time, GAP_MS apart (0: as fast as TCP lets it)."""
    with sock:
        head = read_head(sock)
        if not head:
            return
        total, chunk, gap_ms = (int(word) for word in head.split()[1].strip("/").split("/"))
        jitter = random.Random(total + chunk)
        try:
            sock.sendall(f"HTTP/1.1 200 OK\r\nContent-Length: {total}\r\nConnection: close\r\n\r\n".encode())
            while total:
                part = min(chunk, total)
                sock.sendall(b"o" * part)
                total -= part
                if gap_ms and total:
                    time.sleep(gap_ms / 1000 * jitter.uniform(0.7, 1.3))
        except (BrokenPipeError, ConnectionResetError):
            pass


def shell_answer(sock):
    """Each keystroke comes back, now and then with a line of output: a long and slow connection."""
    with sock:
        n = 0
        while True:
            keys = sock.recv(4096)
            if not keys:
                return
            n += 1
            sock.sendall(keys + (b"a line of output, as long as such lines are\r\n" if n % 7 == 0 else b""))


def listen_tcp(family, address, port, answer):
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind((address, port))
    listener.listen(64)

    def accept():
        while True:
            sock, _ = listener.accept()
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=answer, args=(sock,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()


def listen_udp(family, address, port, answer):
    sock = socket.socket(family, socket.SOCK_DGRAM)
    sock.bind((address, port))

    def serve():
        while True:
            data, peer = sock.recvfrom(65535)
            reply = answer(data)
            if reply:
                sock.sendto(reply, peer)

    threading.Thread(target=serve, daemon=True).start()


def dns_reply(query):
    """The query with one A record appended: 192.0.2.10, whatever was asked."""
    answer = b"\xc0\x0c" + struct.pack("!HHIH", 1, 1, 300, 4) + socket.inet_aton(SERVER)
    return query[:2] + struct.pack("!HHHHH", 0x8180, 1, 1, 0, 0) + query[12:] + answer


def run_wan(ready):
    v4, v6 = socket.AF_INET, socket.AF_INET6
    for port in (HTTP, LOSSY_HTTP):
        listen_tcp(v4, SERVER, port, paced_answer)
    listen_tcp(v4, SERVER, SHELL, shell_answer)
    listen_tcp(v6, SERVER6, HTTP, paced_answer)
    listen_udp(v4, DNS_SERVER, DNS, dns_reply)
    listen_udp(v6, SERVER6, DNS, dns_reply)
    listen_udp(v4, SERVER, MEDIA, lambda data: data)
    listen_udp(v4, SERVER, SINK, lambda data: None)
    listen_udp(v4, SERVER, BIG, lambda data: data)
    listen_udp(v6, SERVER6, BIG, lambda data: data)
    open(ready, "w").close()
    signal.pause()


# ---------------------------------------------------------------- clients


def connect(host, port, sport, server=SERVER, window=0):
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    sock = socket.socket(family, socket.SOCK_STREAM)
    sock.settimeout(20)
    if window:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, window)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    sock.bind((host, sport))
    sock.connect((server, port))
    return sock


def fetch(host, sport, total, chunk, gap_ms, port=HTTP, server=SERVER, window=0):
    """`window` fixes the receive window, which then stays the same in a run of duplicate ACKs."""
    with connect(host, port, sport, server, window) as sock:
        sock.sendall(f"GET /{total}/{chunk}/{gap_ms} HTTP/1.1\r\nHost: example.net\r\n\r\n".encode())
        got = 0
        while True:
            part = sock.recv(65536)
            if not part:
                break
            got += len(part)
    if got < total:
        raise RuntimeError(f"fetch from port {sport}: {got} of {total} bytes")


def refused(host, sport):
    try:
        connect(host, CLOSED, sport).close()
    except ConnectionRefusedError:
        return
    raise RuntimeError(f"port {CLOSED} did not refuse")


def aborted(host, sport):
    """A download that its client gives up: closed with unread data, so the client's kernel sends a RST."""
    sock = connect(host, HTTP, sport)
    sock.sendall(b"GET /60000/1448/20 HTTP/1.1\r\nHost: example.net\r\n\r\n")
    sock.recv(100)
    time.sleep(0.4)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    sock.close()


def unanswered_syn(host, sport):
    sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    sock.settimeout(4)
    sock.bind((host, sport))
    try:
        sock.connect((SILENT, HTTP))
    except OSError:
        pass
    sock.close()


def slow_shell(host, sport, seconds, sock=None):
    end = time.monotonic() + seconds
    jitter = random.Random(sport)
    with sock or connect(host, SHELL, sport) as sock:
        while time.monotonic() < end:
            sock.sendall(b"k" * jitter.randint(1, 4))
            sock.recv(4096)
            time.sleep(jitter.uniform(0.15, 0.35))


def udp_socket(host, sport, server, port):
    sock = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_DGRAM)
    sock.settimeout(2)
    sock.bind((host, sport))
    sock.connect((server, port))
    return sock


def media(host, sport, n, gap_ms, size, port=MEDIA, answered=True):
    jitter = random.Random(sport)
    with udp_socket(host, sport, SERVER, port) as sock:
        for _ in range(n):
            sock.send(b"m" * size)
            if answered:
                sock.recv(2048)
            time.sleep(gap_ms / 1000 * jitter.uniform(0.8, 1.2))


def dns_query(n):
    name = b"".join(bytes([len(label)]) + label for label in (b"host%d" % n, b"example", b"net")) + b"\0"
    return struct.pack("!HHHHHH", 0x1000 + n, 0x0100, 1, 0, 0, 0) + name + struct.pack("!HH", 1, 1)


def lookups(n):
    for i in range(n):
        with udp_socket(LAN_HOSTS[i % 3], 33000 + i, DNS_SERVER, DNS) as sock:
            sock.send(dns_query(i))
            sock.recv(512)
        time.sleep(0.6)


def lookups6(n):
    for i in range(n):
        with udp_socket(LAN_HOST6, 33500 + i, SERVER6, DNS) as sock:
            sock.send(dns_query(i))
            sock.recv(512)
        time.sleep(0.5)


def big_datagram(host, sport, server, size):
    with udp_socket(host, sport, server, BIG) as sock:
        sock.send(b"b" * size)
        if len(sock.recv(65535)) != size:
            raise RuntimeError("the big datagram came back cut")


def to_closed_port(host, sport):
    with udp_socket(host, sport, SERVER, UDP_CLOSED) as sock:
        for _ in range(3):
            try:
                sock.send(b"anybody there?")
                time.sleep(0.5)
            except ConnectionRefusedError:
                pass


def to_everybody():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.bind((LAN_HOSTS[0], 5353))
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
        sock.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton(LAN_HOSTS[0]))
        sock.sendto(dns_query(99), ("224.0.0.251", 5353))
        sock.sendto(b"anybody here?", ("192.168.1.255", 5008))
    with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as sock:
        sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_MULTICAST_IF, socket.if_nametoindex("eth0"))
        sock.sendto(dns_query(98), ("ff02::fb", 5353))


def ping(host, target, n, interval, ident, size=56):
    subprocess.run(
        ["ping", "-n", "-q", "-I", host, "-c", str(n), "-i", str(interval), "-e", str(ident), "-s", str(size),
         "-W", "1", target],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)


# ---------------------------------------------------------------- frames that no socket makes


def checksum(data):
    if len(data) % 2:
        data += b"\0"
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    total = (total & 0xFFFF) + (total >> 16)
    total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def ipv4(proto, src, dst, payload):
    head = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(payload), 0, 0x4000, 64, proto, 0,
                       socket.inet_aton(src), socket.inet_aton(dst))
    return head[:10] + struct.pack("!H", checksum(head)) + head[12:] + payload


def udp(src, dst, sport, dport, payload):
    head = struct.pack("!HHHH", sport, dport, 8 + len(payload), 0)
    pseudo = socket.inet_aton(src) + socket.inet_aton(dst) + struct.pack("!HH", 17, len(head) + len(payload))
    return head[:6] + struct.pack("!H", checksum(pseudo + head + payload) or 0xFFFF) + payload


def raw_socket(name):
    sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
    sock.bind((name, 0))
    return sock


def tagged(tags, dst, src, packet):
    return dst + src + b"".join(struct.pack("!HH", kind, vlan) for kind, vlan in tags) + b"\x08\0" + packet


VLAN_HOST, VLAN_ROUTER = "192.168.20.10", "192.168.20.1"


def vlan_requests(n):
    """One side of a UDP exchange in VLAN 20; vlan_replies() is the other. This kernel has no 8021q."""
    with raw_socket("eth0") as sock:
        for i in range(n):
            packet = ipv4(17, VLAN_HOST, VLAN_ROUTER, udp(VLAN_HOST, VLAN_ROUTER, 40020, MEDIA, b"vlan request %03d" % i))
            sock.send(tagged([(0x8100, 20)], MAC_ROUTER_LAN, MAC_LAN, packet))
            time.sleep(0.2)


def vlan_replies(n):
    with raw_socket("lan0") as sock:
        for i in range(n):
            packet = ipv4(17, VLAN_ROUTER, VLAN_HOST, udp(VLAN_ROUTER, VLAN_HOST, MEDIA, 40020, b"vlan reply %03d" % i))
            sock.send(tagged([(0x8100, 20)], MAC_LAN, MAC_ROUTER_LAN, packet))
            time.sleep(0.2)


def odd_frames():
    """One of each that an appliance meets and octep must not take for a candidate, less the two-tagged one."""
    inner = ipv4(17, "10.0.0.1", "10.0.0.2", udp("10.0.0.1", "10.0.0.2", 40021, MEDIA, b"inside a tunnel"))
    with raw_socket("eth0") as sock:
        two_tags = ipv4(17, VLAN_HOST, VLAN_ROUTER, udp(VLAN_HOST, VLAN_ROUTER, 40022, MEDIA, b"two tags"))
        sock.send(tagged([(0x88A8, 100), (0x8100, 20)], MAC_ROUTER_LAN, MAC_LAN, two_tags))
        # PPPoE session 1: version and type, code, session, length, then PPP protocol 0x21 (IPv4)
        sock.send(MAC_ROUTER_LAN + MAC_LAN + struct.pack("!HBBHHH", 0x8864, 0x11, 0, 1, 2 + len(inner), 0x21) + inner)
    for proto, payload in ((47, struct.pack("!HH", 0, 0x0800) + inner),  # GRE
                           (4, inner),  # IP in IP
                           (50, struct.pack("!II", 0x1001, 1) + b"e" * 64),  # ESP
                           (51, struct.pack("!BBHII", 17, 4, 0, 0x1002, 1) + b"a" * 12 + b"\x9c\x55\x13\x8c\0\x08\0\0"),  # AH
                           (253, b"a protocol for experiments (RFC 3692)")):
        with socket.socket(socket.AF_INET, socket.SOCK_RAW, proto) as sock:
            sock.bind((LAN_HOSTS[0], 0))
            sock.sendto(payload, (SERVER, 0))
        time.sleep(0.05)


# ---------------------------------------------------------------- the session


def at(start, failures, seconds, what, *args, **named):
    def run():
        time.sleep(max(0, start + seconds - time.monotonic()))
        try:
            what(*args, **named)
        except Exception as error:  # a thread's failure must fail the recording
            failures.append(f"{what.__name__}{args}: {error!r}")

    thread = threading.Thread(target=run)
    thread.start()
    return thread


def wait_for(path):
    while not os.path.exists(path):
        time.sleep(0.01)


def run_lan(ready, go):
    one, two, three = LAN_HOSTS
    before = connect(three, SHELL, 49901)  # its SYN is not in the capture, which begins after `ready`
    open(ready, "w").close()
    wait_for(go)
    start, failures, threads = time.monotonic() + 0.3, [], []

    def plan(seconds, what, *args, **named):
        threads.append(at(start, failures, seconds, what, *args, **named))

    plan(0.0, slow_shell, one, 49900, 24)
    plan(0.3, slow_shell, three, 49901, 12, before)
    plan(0.1, ping, one, SERVER, 24, 1.0, 4660)
    plan(0.4, ping, two, SERVER, 30, 0.2, 4660)  # the same identifier from another host: the NAT must change one
    plan(0.2, lookups, 36)
    for i in range(8):  # eight downloads at once, from neighbouring ports
        plan(1.0 + 0.15 * i, fetch, one, 50000 + i, 170_000 + 5_000 * i, 2896, 150)
    plan(2.0, fetch, two, 50000, 40_000, 2896, 300)  # a port that another host already uses: changed by the NAT
    plan(2.0, fetch, three, 50000, 40_000, 2896, 300)
    plan(3.0, media, one, 40000, 200, 100, 160)
    plan(3.1, media, two, 40000, 200, 100, 320)
    plan(3.2, media, three, 40001, 250, 20, 172)
    plan(4.0, media, one, 40010, 300, 50, 200, port=SINK, answered=False)
    for i in range(16):
        plan(4.5 + 1.1 * i, fetch, LAN_HOSTS[i % 3], 51000 + i, 500 + 700 * i, 1448, 0)
    plan(5.0, ping, one, SILENT, 6, 1.0, 4661)
    plan(5.5, refused, one, 52000)
    plan(6.0, aborted, two, 52001)
    plan(6.5, unanswered_syn, one, 52002)
    plan(7.0, to_closed_port, one, 40030)
    plan(8.0, to_everybody)
    plan(8.5, big_datagram, one, 40040, SERVER, 4000)
    plan(9.0, vlan_requests, 20)
    plan(9.5, odd_frames)
    plan(10.0, ping, two, ABSENT, 3, 1.0, 4662)
    plan(11.0, ping, LAN_HOST6, SERVER6, 10, 0.5, 4663)
    plan(12.0, fetch, LAN_HOST6, 50100, 100_000, 2856, 100, server=SERVER6)
    plan(12.5, lookups6, 6)
    plan(13.0, big_datagram, LAN_HOST6, 40041, SERVER6, 4000)
    plan(16.0, fetch, one, 50200, 400_000, 65536, 0)  # as fast as TCP goes
    plan(17.0, fetch, two, 50201, 500_000, 62_500, 600, port=LOSSY_HTTP, window=250_000)  # with loss: runs of equal ACKs
    for thread in threads:
        thread.join()
    for failure in failures:
        print(failure, file=sys.stderr)
    return 1 if failures else 0


def main():
    role = sys.argv[1]
    if role == "wan":
        run_wan(sys.argv[2])
    if role == "lan":
        return run_lan(sys.argv[2], sys.argv[3])
    if role == "router":
        wait_for(sys.argv[2])
        time.sleep(0.3 + 9.05)  # in step with vlan_requests()
        vlan_replies(20)
    return 0


if __name__ == "__main__":
    sys.exit(main())

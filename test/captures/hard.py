#!/usr/bin/env python3
"""Writes the captures of test/captures/hard, each of traffic that is hard to read: `hard.py DIRECTORY`.

The same bytes every time, and nothing of anybody's network: addresses are from the documentation ranges (RFC 5737, RFC 3849,
RFC 7042), the payload is filler. Conversations are as hosts have them: handshakes, numbers, acknowledgements, checksums,
identifications that count up, a pace; what is hard about each file is in its function and in docs/captures.md.
"""

import ipaddress
import pathlib
import random
import struct
import sys

SNAP = 128  # every header that octep reads, and what TShark needs besides
INSIDE, OUTSIDE = bytes.fromhex("00005e005310"), bytes.fromhex("00005e005301")
FIN, SYN, RST, PSH, ACK = 1, 2, 4, 8, 16
TCP, UDP, GRE, ESP, IP_IN_IP = 6, 17, 47, 50, 4
IPV4, IPV6, VLAN, SERVICE_VLAN, PPPOE_DISCOVERY, PPPOE = 0x0800, 0x86DD, 0x8100, 0x88A8, 0x8863, 0x8864


def checksum(data):
    if len(data) % 2:
        data += b"\0"
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def packed(address):
    return ipaddress.ip_address(address).packed


class Host:
    """An address, and the identification that its next IPv4 packet has."""

    def __init__(self, address, first_id=1):
        self.address, self.packed, self.next_id = address, packed(address), first_id
        self.six = len(self.packed) == 16

    def identification(self):
        self.next_id = self.next_id % 0xFFFF + 1
        return self.next_id


def ip(source, target, protocol, payload, ttl=64, fragment=0x4000, identification=None, extensions=b""):
    """`extensions`: IPv6 headers whose last names `protocol`; their first is `extensions[0]`, which is taken off."""
    if source.six:
        first, chain = (extensions[0], extensions[1:]) if extensions else (protocol, b"")
        return struct.pack("!IHBB", 6 << 28, len(chain + payload), first, ttl) + source.packed + target.packed + chain + payload
    ident = source.identification() if identification is None else identification
    head = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(payload), ident, fragment, ttl, protocol, 0) + source.packed + target.packed
    return head[:10] + struct.pack("!H", checksum(head)) + head[12:] + payload


def with_checksum(source, target, protocol, segment, at):
    if source.six:
        pseudo = source.packed + target.packed + struct.pack("!II", len(segment), protocol)
    else:
        pseudo = source.packed + target.packed + struct.pack("!BBH", 0, protocol, len(segment))
    return segment[:at] + struct.pack("!H", checksum(pseudo + segment) or 0xFFFF) + segment[at + 2:]


def tcp(source, target, ports, flags, sequence, acknowledgement, payload=b"", options=b""):
    head = struct.pack("!HHIIBBHHH", *ports, sequence & 0xFFFFFFFF, acknowledgement & 0xFFFFFFFF, (20 + len(options)) // 4 << 4, flags,
                       0xFFFF, 0, 0)
    return with_checksum(source, target, TCP, head + options + payload, 16)


def udp(source, target, ports, payload):
    return with_checksum(source, target, UDP, struct.pack("!HHHH", *ports, 8 + len(payload), 0) + payload, 6)


def ethernet(packet, outward, kind=IPV4, tags=()):
    """`tags`: (ethertype, id), outermost first."""
    macs = OUTSIDE + INSIDE if outward else INSIDE + OUTSIDE
    return macs + b"".join(struct.pack("!HH", t, number) for t, number in tags) + struct.pack("!H", kind) + packet


class Recording:
    """Frames with their microseconds, in no order until they are written."""

    def __init__(self):
        self.frames = []

    def add(self, us, frame):
        self.frames.append((us, len(self.frames), frame))

    def in_order(self):
        return [(us, frame) for us, _, frame in sorted(self.frames)]


def plain(outward, packet, six):
    return ethernet(packet, outward, IPV6 if six else IPV4)


def conversation(into, us, client, server, ports, segments, size=1448, pace=40_000, mss=1460, wrap=plain, extensions=b"", ends=True):
    """A handshake, a request, `segments` of answer `pace` apart, each acknowledged, and an end. 12 ms there and back."""
    option = struct.pack("!BBH", 2, 4, mss)
    mine, theirs = 1_000 * ports[0], 7_000 * ports[0]

    def out(flags, payload=b"", options=b""):
        nonlocal mine
        packet = ip(client, server, TCP, tcp(client, server, ports, flags, mine, theirs, payload, options), extensions=extensions)
        into.add(us, wrap(True, packet, client.six))
        mine += len(payload) + (1 if flags & (SYN | FIN) else 0)

    def back(flags, payload=b"", options=b""):
        nonlocal theirs
        packet = ip(server, client, TCP, tcp(server, client, ports[::-1], flags, theirs, mine, payload, options), 56)
        into.add(us, wrap(False, packet, client.six))
        theirs += len(payload) + (1 if flags & (SYN | FIN) else 0)

    acknowledged, theirs = theirs, 0
    out(SYN, options=option)
    theirs = acknowledged
    us += 12_000
    back(SYN | ACK, options=option)
    us += 100
    out(ACK)
    us += 50
    out(ACK | PSH, b"r" * 220)
    us += 12_000
    for _ in range(segments):
        back(ACK, b"d" * size)
        us += 90
        out(ACK)
        us += pace
    if not ends:
        return us
    back(FIN | ACK)
    us += 80
    out(FIN | ACK)
    us += 12_000
    back(ACK)
    return us


V4_CLIENTS = [f"192.0.2.{n}" for n in range(10, 40)]


def clients():
    return [Host(a, 1_000 * (i + 1)) for i, a in enumerate(V4_CLIENTS)]


# ---------------------------------------------------------------- files


def pcap(frames, snap=SNAP, order="<", nano=False):
    out = struct.pack(order + "IHHiIII", 0xA1B23C4D if nano else 0xA1B2C3D4, 2, 4, 0, 0, snap, 1)
    for us, frame in frames:
        at = 1_700_000_000_000_000 + us
        # Nanoseconds that no microsecond has, so that losing them would be seen.
        part = at % 1_000_000 * 1_000 + 7 if nano else at % 1_000_000
        out += struct.pack(order + "IIII", at // 1_000_000, part, min(len(frame), snap), len(frame)) + frame[:snap]
    return out


def block(kind, body):
    body += b"\0" * (-len(body) % 4)
    return struct.pack("<II", kind, 12 + len(body)) + body + struct.pack("<I", 12 + len(body))


def pcapng(interfaces, frames):
    """`interfaces`: (link type, snap, digits of a second); `frames`: (us, interface, frame)."""
    out = block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1))
    for link, snap, digits in interfaces:
        out += block(1, struct.pack("<HHI", link, 0, snap) + struct.pack("<HHB3x", 9, 1, digits) + struct.pack("<HH", 0, 0))
    for us, of, frame in frames:
        _, snap, digits = interfaces[of]
        at = (1_700_000_000_000_000 + us) * 10 ** (digits - 6)
        kept = frame[:snap]
        out += block(6, struct.pack("<IIIII", of, at >> 32, at & 0xFFFFFFFF, len(kept), len(frame)) + kept)
    return out


# ---------------------------------------------------------------- captures


def ipv6_only():
    """IPv6 alone, two connections with extension headers in front of TCP, a neighbour solicitation, an echo, a fragment."""
    r = Recording()
    one, two, server = Host("2001:db8:1::10"), Host("2001:db8:1::11"), Host("2001:db8:2::80")
    conversation(r, 0, one, server, (40_000, 443), 90)
    hop_by_hop = bytes([0]) + bytes([TCP, 0, 5, 2, 0, 0, 1, 0])  # a router alert
    conversation(r, 50_000, two, server, (40_001, 443), 60, extensions=hop_by_hop)
    destination_options = bytes([60]) + bytes([TCP, 1]) + bytes([1, 12]) + b"\0" * 12
    conversation(r, 90_000, one, server, (40_002, 443), 60, extensions=destination_options)
    for i in range(20):
        r.add(200_000 + i * 150_000, plain(True, ip(two, server, UDP, udp(two, server, (5_000, 5_004), b"q" * 40)), True))
        r.add(212_000 + i * 150_000, plain(False, ip(server, two, UDP, udp(server, two, (5_004, 5_000), b"a" * 90)), True))
    all_nodes = Host("ff02::1:ff00:10")
    for i in range(5):
        solicitation = struct.pack("!BBHI", 135, 0, 0, 0) + server.packed
        r.add(i * 900_000, plain(True, ip(one, all_nodes, 58, with_checksum(one, all_nodes, 58, solicitation, 2), 255), True))
    for i in range(6):
        for source, target, kind in ((one, server, 128), (server, one, 129)):
            echo = struct.pack("!BBHHH", kind, 0, 0, 77, i) + b"e" * 56
            r.add(300_000 + i * 500_000 + (kind - 128) * 9_000,
                  plain(source is one, ip(source, target, 58, with_checksum(source, target, 58, echo, 2)), True))
    for i in range(3):
        fragment = bytes([44]) + bytes([UDP, 0]) + struct.pack("!HI", i * 1_400 | (1 if i < 2 else 0), 99)
        r.add(700_000 + i * 100, plain(True, ip(one, server, UDP, b"f" * 1_400, extensions=fragment), True))
    return pcap(r.in_order())


def vlan_stacks():
    """The same conversation behind no tag, one, two (802.1ad outside), three, and a priority tag of VLAN 0."""
    r = Recording()
    stacks = [(), ((VLAN, 20),), ((SERVICE_VLAN, 100), (VLAN, 20)), ((SERVICE_VLAN, 100), (VLAN, 20), (VLAN, 30)), ((VLAN, 5 << 13),)]
    hosts, server = clients(), Host("198.51.100.80")
    for i, tags in enumerate(stacks):
        conversation(r, i * 20_000, hosts[i], server, (41_000 + i, 443), 70,
                     wrap=lambda outward, packet, six, tags=tags: ethernet(packet, outward, IPV4, tags))
    return pcap(r.in_order())


def pppoe():
    """A line's discovery and session, all traffic inside the session, and one connection beside it that is not."""
    r = Recording()

    def session(outward, packet, six):
        return ethernet(struct.pack("!BBHHH", 0x11, 0, 7, 2 + len(packet), 0x57 if six else 0x21) + packet, outward, PPPOE)

    for i, code in enumerate((0x09, 0x07, 0x19, 0x65)):  # PADI, PADO, PADR, PADS
        head = struct.pack("!BBHH", 0x11, code, 7 if code == 0x65 else 0, 4) + struct.pack("!HH", 0x0101, 0)
        r.add(i * 3_000, ethernet(head, i % 2 == 0, PPPOE_DISCOVERY))
    for i in range(4):  # LCP echoes
        r.add(20_000 + i * 1_000_000, ethernet(struct.pack("!BBHHHBBHI", 0x11, 0, 7, 10, 0xC021, 9 + i % 2, i // 2, 8, 1), i % 2 == 0, PPPOE))
    hosts, server = clients(), Host("198.51.100.80")
    for i in range(3):
        conversation(r, 30_000 + i * 40_000, hosts[i], server, (42_000 + i, 443), 60, wrap=session)
    conversation(r, 100_000, hosts[3], server, (42_010, 443), 60)
    return pcap(r.in_order())


def tunnels():
    """GRE and IP in IP with TCP inside, ESP, and the same TCP outside of any tunnel."""
    r = Recording()
    hosts, server, here, there = clients(), Host("198.51.100.80"), Host("203.0.113.1"), Host("203.0.113.2")

    def carried(protocol, head):
        def wrap(outward, packet, six):
            ends = (here, there) if outward else (there, here)
            return ethernet(ip(*ends, protocol, head + packet), outward)
        return wrap

    conversation(r, 0, hosts[0], server, (43_000, 443), 60, size=1_400, wrap=carried(GRE, struct.pack("!HH", 0, IPV4)))
    conversation(r, 15_000, hosts[1], server, (43_001, 443), 60, size=1_400, wrap=carried(IP_IN_IP, b""))
    for i in range(80):
        ends, spi = ((here, there), 0x1001) if i % 2 == 0 else ((there, here), 0x1002)
        r.add(25_000 + i * 30_000, ethernet(ip(*ends, ESP, struct.pack("!II", spi, i // 2 + 1) + b"e" * 120), i % 2 == 0))
    conversation(r, 40_000, hosts[2], server, (43_002, 443), 60)
    return pcap(r.in_order())


def fragments():
    """Datagrams of IPv4 and IPv6 in three pieces, ports in the first alone, beside a stream that is whole."""
    r = Recording()
    hosts, server = clients(), Host("198.51.100.80")
    six, six_server = Host("2001:db8:1::10"), Host("2001:db8:2::80")
    for n in range(40):
        us = n * 110_000
        whole = udp(hosts[0], server, (44_000, 5_004), b"v" * 4_000)
        ident = hosts[0].identification()
        for i, at in enumerate(range(0, len(whole), 1_480)):
            part = whole[at:at + 1_480]
            more = 0x2000 if at + 1_480 < len(whole) else 0
            r.add(us + i * 20, ethernet(ip(hosts[0], server, UDP, part, fragment=more | at // 8, identification=ident), True))
        whole = udp(six, six_server, (44_001, 5_004), b"v" * 4_000)
        for i, at in enumerate(range(0, len(whole), 1_448)):
            more = 1 if at + 1_448 < len(whole) else 0
            chain = bytes([44]) + bytes([UDP, 0]) + struct.pack("!HI", at | more, n + 1)
            r.add(us + 50_000 + i * 20, plain(True, ip(six, six_server, UDP, whole[at:at + 1_448], extensions=chain), True))
        r.add(us + 80_000, ethernet(ip(hosts[1], server, UDP, udp(hosts[1], server, (44_002, 5_004), b"v" * 900)), True))
        r.add(us + 92_000, ethernet(ip(server, hosts[1], UDP, udp(server, hosts[1], (5_004, 44_002), b"v" * 60)), False))
    return pcap(r.in_order())


def jumbo():
    """A connection of 8,960-byte segments, as its SYNs say, beside one of ordinary ones."""
    r = Recording()
    hosts, server = clients(), Host("198.51.100.80")
    conversation(r, 0, hosts[0], server, (45_000, 2_049), 120, size=8_948, mss=8_960, pace=20_000)
    conversation(r, 9_000, hosts[1], server, (45_001, 443), 80)
    return pcap(r.in_order())


def mixed(seed):
    """A handful of ordinary connections, for the file formats."""
    r = Recording()
    hosts, server, rng = clients(), Host("198.51.100.80"), random.Random(seed)
    for i in range(6):
        conversation(r, rng.randrange(0, 900_000), hosts[i], server, (46_000 + i, 443), rng.randrange(5, 90), pace=rng.randrange(9_000, 70_000))
    return r.in_order()


def nanosecond():
    """Stamps in nanoseconds (magic a1b23c4d)."""
    return pcap(mixed(1), nano=True)


def big_endian():
    """Written by a big-endian machine."""
    return pcap(mixed(2), order=">")


def two_interfaces():
    """pcapng of a router's two Ethernet interfaces, one stamped in microseconds and one in nanoseconds; each packet comes in on one
    and goes out on the other, one hop further."""
    frames = []
    for us, frame in mixed(3):
        came, went = (0, 1) if frame[:6] == OUTSIDE else (1, 0)
        frames.append((us, came, frame))
        packet = bytearray(frame)
        packet[22] -= 1
        packet[24:26] = b"\0\0"
        packet[24:26] = struct.pack("!H", checksum(bytes(packet[14:34])))
        frames.append((us + 31, went, bytes(packet)))
    return pcapng([(1, SNAP, 6), (1, SNAP, 9)], sorted(frames, key=lambda f: f[0]))


def dns_flood():
    """1,500 questions from as many ports, each answered, in 12 seconds, and a download among them."""
    r = Recording()
    hosts, server, web, rng = clients(), Host("198.51.100.53"), Host("198.51.100.80"), random.Random(4)
    for i in range(1_500):
        us, host = i * 8_000 + rng.randrange(0, 3_000), hosts[i % 30]
        ports = (20_000 + i * 7 % 40_000, 53)
        name = bytes([7]) + b"host%03d" % (i % 1_000) + bytes([7]) + b"example" + bytes([3]) + b"net\0"
        question = struct.pack("!HHHHHH", i, 0x0100, 1, 0, 0, 0) + name + struct.pack("!HH", 1, 1)
        answer = struct.pack("!HHHHHH", i, 0x8180, 1, 1, 0, 0) + question[12:] + struct.pack("!HHHIH", 0xC00C, 1, 1, 300, 4) + web.packed
        r.add(us, ethernet(ip(host, server, UDP, udp(host, server, ports, question)), True))
        r.add(us + 9_000, ethernet(ip(server, host, UDP, udp(server, host, ports[::-1], answer), 56), False))
    conversation(r, 1_000_000, hosts[3], web, (47_000, 443), 100, pace=60_000)
    return pcap(r.in_order(), 96 + 32)


def port_scan():
    """2,000 ports asked in 20 seconds: most refuse, some are silent, three are open; and a download among them."""
    r = Recording()
    hosts, target, scanner, rng = clients(), Host("198.51.100.80"), Host("203.0.113.66", 5_000), random.Random(5)
    option = struct.pack("!BBH", 2, 4, 1_460)
    for i in range(2_000):
        us, port, number = i * 10_000 + rng.randrange(0, 2_000), i + 1, rng.getrandbits(32)
        ports = (60_123, port)
        r.add(us, ethernet(ip(scanner, target, TCP, tcp(scanner, target, ports, SYN, number, 0, options=option), 50), False))
        if port in (22, 80, 443):
            theirs = rng.getrandbits(32)
            r.add(us + 300, ethernet(ip(target, scanner, TCP, tcp(target, scanner, ports[::-1], SYN | ACK, theirs, number + 1, options=option)), True))
            r.add(us + 15_000, ethernet(ip(scanner, target, TCP, tcp(scanner, target, ports, RST, number + 1, 0), 50), False))
        elif port % 9:
            r.add(us + 300, ethernet(ip(target, scanner, TCP, tcp(target, scanner, ports[::-1], RST | ACK, 0, number + 1)), True))
    conversation(r, 2_000_000, hosts[0], Host("198.51.100.81"), (48_000, 443), 120, pace=80_000)
    return pcap(r.in_order())


def two_snap_lengths():
    """pcapng with two Ethernet interfaces of different snap lengths, which libpcap does not read either."""
    return pcapng([(1, SNAP, 6), (1, 256, 6)], [(us, i % 2, frame) for i, (us, frame) in enumerate(mixed(6)[:40])])


def two_link_types():
    """pcapng with an Ethernet interface and one of raw IP: libpcap reads files of one link type alone."""
    ether = mixed(6)[:40]
    return pcapng([(1, SNAP, 6), (101, SNAP, 6)], [(us, i % 2, frame if i % 2 == 0 else frame[14:]) for i, (us, frame) in enumerate(ether)])


FILES = {
    "ipv6-only.pcap": ipv6_only,
    "vlan-stacks.pcap": vlan_stacks,
    "pppoe.pcap": pppoe,
    "tunnels.pcap": tunnels,
    "fragments.pcap": fragments,
    "jumbo.pcap": jumbo,
    "nanosecond.pcap": nanosecond,
    "big-endian.pcap": big_endian,
    "two-interfaces.pcapng": two_interfaces,
    "dns-flood.pcap": dns_flood,
    "port-scan.pcap": port_scan,
    "two-link-types.pcapng": two_link_types,
    "two-snap-lengths.pcapng": two_snap_lengths,
}


def main(folder):
    for name, made in FILES.items():
        (pathlib.Path(folder) / name).write_bytes(made())


if __name__ == "__main__":
    if len(sys.argv) != 2 or not pathlib.Path(sys.argv[1]).is_dir():
        sys.exit(__doc__)
    main(sys.argv[1])

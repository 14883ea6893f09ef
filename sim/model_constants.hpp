// Every number of the models, in one place, with where it comes from. One set for all scenarios; nothing is tuned in per
// scenario (record.md). A scenario that needs a variant says so in its own settings, and the default stays here.
//
// Sources: "coprocessor.md" and "system.md" are the specification's pages; "record" is the published record, with the page;
// "ours" is a choice of this project where both are silent.
#pragma once

#include <octep/base.hpp>
#include <octep/ticks.hpp>

namespace octep::sim {

// --- fast path ---------------------------------------------------------------------------------------------

// coprocessor.md: a microflow nobody programmed dies after nine to ten seconds of silence ...
inline constexpr microseconds microflow_silence_least = from_s(9);
inline constexpr microseconds microflow_silence_most = from_s(10);
// ... noticed up to one second later: the far side looks once a second.
inline constexpr microseconds microflow_look_every = from_s(1);
// coprocessor.md: the terminal timer of a microflow that met an unusable connection.
inline constexpr microseconds microflow_terminal = from_s(5);
// Ours: room for microflows, counted from id 1. The field is 25 bits wide; what the device has is not in the record.
inline constexpr u32 microflow_capacity = u32{1} << 17;
// coprocessor.md: rings that punted frames are spread over.
inline constexpr u32 punt_rings = 8;

// --- queues ------------------------------------------------------------------------------------------------

// record.md R17: 789 to 897 Mbit/s in hardware on a gigabit port; a full-sized frame takes 12.3 us there (1,538 bytes with
// preamble and gap at 1 Gbit/s).
inline constexpr u64 wire_frame_ns = 12'304;
// Record, "A give-back is answered at once": four streams up, 919 Mbit/s and 1.12 cores with everything at the host: about
// 76,000 segments and half as many acknowledgements a second, 10 us of one core each.
inline constexpr u64 host_frame_ns = 10'000;
// Ours: frames that either queue holds before it drops.
inline constexpr u32 queue_room = 1'024;

// --- command latency ---------------------------------------------------------------------------------------

// coprocessor.md: about 25 us, with a tail to 3 ms. Record: 25 us on average, 920 us at worst over 4,644 commands, 3 ms at
// worst over 13,942. The shape is ours: a floor and two uniform parts (mean 24.5 us), one answer in 1,000 up to 920 us and one
// in 10,000 up to 3 ms, which add 0.7 us to the mean.
inline constexpr u64 answer_floor_us = 10;
inline constexpr u64 answer_spread_us[] = {14, 15};
inline constexpr u64 answer_slow_one_in = 1'000;
inline constexpr u64 answer_slow_us[] = {100, 920};
inline constexpr u64 answer_slowest_one_in = 10'000;
inline constexpr u64 answer_slowest_us[] = {920, 3'000};
// system.md 12: past its limit, an answer is looked for once a millisecond.
inline constexpr u32 late_look_us = 1'000;
// From a kick to the worker's next look (record, R14).
inline constexpr microseconds kick_to_run{100};

// --- firewall ----------------------------------------------------------------------------------------------

// coprocessor.md gives opening, established, the two of UDP and ICMP. Closing and closed are pf's documented defaults.
inline constexpr microseconds tcp_opening_timer = from_s(30);
inline constexpr microseconds tcp_established_timer = from_s(86'400);
inline constexpr microseconds tcp_closing_timer = from_s(900);
inline constexpr microseconds tcp_closed_timer = from_s(90);
inline constexpr microseconds udp_single_timer = from_s(30);
inline constexpr microseconds udp_multiple_timer = from_s(60);
inline constexpr microseconds icmp_timer = from_s(10);
// Ours: how far an acknowledgement may be from what its receiver was seen to send, in bytes: a window without scaling.
inline constexpr u32 acknowledgement_skew = 65'535;
// pf's documented default range of translated source ports.
inline constexpr u16 nat_port_least = 50'001;
inline constexpr u16 nat_port_most = 65'535;

// --- associations ------------------------------------------------------------------------------------------

// Issue 4: an index's counters are published in batches of this many packets.
inline constexpr u32 counters_published_every = 16'380;
// Ours: what is left of a batch is published once the index was quiet for so long. Something must: the 722,073 packets of the
// record (R20) are no whole number of batches.
inline constexpr microseconds counters_published_after = from_s(1);

// --- routes ------------------------------------------------------------------------------------------------

// Ours: below the smallest MTU that IPv6 allows (RFC 8200, 5), a way out is left to the host.
inline constexpr u16 least_mtu = 1'280;
inline constexpr u16 ethernet_mtu = 1'500;

// --- traffic of scenarios ----------------------------------------------------------------------------------

// Ours: a program drives its flows in rounds, one exchange of each every 20 ms. Its timer is up to a millisecond late, and
// within half a millisecond its flows come in any order. The record says "driven together", and that the first reading of the
// flow table, at half a second, showed every flow of an uncrowded slot: its sixteenth frame, here at 0.3 s, is well before that.
inline constexpr microseconds drive_period = from_ms(20);
inline constexpr u64 drive_late_most_us = 1'000;
inline constexpr microseconds drive_spread{500};
// Ours: a lab's round trip, and thus how far the answer of an exchange is behind its question.
inline constexpr microseconds answer_after{300};
// record.md R12: fifty flows at a time, sixteen frames each way and more, then a datagram each 4 s. Ours: twenty exchanges.
inline constexpr u32 open_batch = 50;
inline constexpr u32 open_exchanges = 20;
inline constexpr microseconds keep_period = from_s(4);
// Ours: eighteen batches took the recorded run something under its 33 s; the tool that opened them is not in the record.
inline constexpr microseconds open_every{1'750'000};
// record.md N2: a pair of one exchange a second; flows handed up once a tick; strangers a second, over the whole table.
inline constexpr microseconds slow_period = from_s(1);
inline constexpr microseconds hostile_period = from_ms(1);
inline constexpr u32 strangers_a_second = 2'000;
// candidate-policies.md: strangers aimed at one slot, a second.
inline constexpr u32 aimed_a_second = 100;
// record.md R16: a scan of one or two frames a tuple, and a flood to a silent address.
inline constexpr u32 scan_tuples = 2'000;
inline constexpr u32 flood_tuples = 200;
inline constexpr u32 flood_frames = 40;
inline constexpr microseconds flood_lasts{2'600'000};
// Ours: the frames of one burst, at 400 Mbit/s of full-sized ones.
inline constexpr microseconds flood_spacing{30};
// candidate-policies.md: a thousand Zipf flows. Exponent and rate are ours: the k-th sends 1/k of what the first does, all of
// them 5,000 exchanges a second, which gives the slowest two in three seconds.
inline constexpr u32 zipf_flows = 1'000;
inline constexpr u32 zipf_exchanges_a_second = 5'000;

// record.md R10: the other traffic beside it. Ours: tuples a second that no connection is made of. A slot of one place then keeps a
// candidate for half a minute on average: the recorded runs lost one of two at 8 s and the one at 20 s, and kept those between.
inline constexpr u32 bystanders_a_second = 2;
// record.md R11: a ping sends once a second.
inline constexpr microseconds ping_period = from_s(1);
// record.md R14: frames of the download, a second, in eighths of a microsecond: 12.5 us from one to the next.
inline constexpr u32 fast_download_eighths = 100;
// record.md R19: 159 give-backs of four streams in thirty seconds: one a stream each 755 ms on average, loosely (ours).
inline constexpr microseconds between_give_backs{30'000'000 / 159 * 4};
// Ours: a slow one of their streams, so that half a minute of four costs no minute: shares are of time, not of frames.
inline constexpr microseconds slow_download_period = from_ms(1);
// record.md R22: frames that go on. Ours: one a tick.
inline constexpr microseconds going_on_period = from_ms(1);

// --- a stream that reacts ------------------------------------------------------------------------------------

// Record, "A connection given back by the XGS 136's fast path": 395 retransmitted at 8 remakes with nothing lost. Each remake lets
// about 49 frames be overtaken: 600 us of a gigabit are in the host's path. Through hardware: ours.
inline constexpr microseconds host_path{600};
inline constexpr microseconds hardware_path{5};
// The same page: 38 and 43 frames in 15 s at about 900 Mbit/s were lost behind the port.
inline constexpr u64 lost_behind_port_one_in = 28'000;
// Ours: the receiver's adapter is one on USB, which hands over several frames in one transfer: two microframes' (USB 2.0, 4.4).
inline constexpr microseconds adapter_every{250};
// Ours: payload of a full segment with timestamps, a receiver's window of 1 MB, and the least time-out of common senders.
inline constexpr u32 bulk_segment = 1'448;
inline constexpr u32 bulk_window = 724;  // segments
inline constexpr microseconds bulk_timeout = from_ms(200);

}  // namespace octep::sim

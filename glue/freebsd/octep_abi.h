/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * The border between the C half and the C++ core of the kernel module.
 *
 * Valid as C and as C++, includes nothing: C++ never sees a kernel header, C
 * never sees a core header.  No pointer that crosses it is kept, but the ops
 * table's and the two blocks of memory given at create, which outlive the
 * core.  Structs have fixed widths and no hidden padding; enumerations are
 * only appended to.  Addresses, port words and MAC addresses are bytes as on
 * the wire.  Times are microseconds since an origin of the caller's choice
 * that never goes back.
 *
 * Calling context, per function:
 *	(r)	any receive ring, inside one critical section per batch; a ring
 *		number is below OCTEP_RINGS and used by one thread at a time: it
 *		names the block of counters that nobody else writes
 *	(p)	under the pass lock
 *	(a)	anywhere
 *	(s)	start, before any other thread knows the core
 */
#ifndef OCTEP_ABI_H
#define OCTEP_ABI_H

#ifdef __cplusplus
extern "C" {
#define OCTEP_NOEXCEPT noexcept
#else
#define OCTEP_NOEXCEPT
#endif

/* Moves whenever a struct here changes; create refuses any other. */
#define OCTEP_ABI_VERSION 3u

#define OCTEP_ADDRESS_BYTES 16u	/* an IPv4 address stands in the first four */
#define OCTEP_MAC_BYTES 6u
#define OCTEP_PLACES_MAX 64u
#define OCTEP_RINGS 8u	/* rings are numbered below this */

typedef __UINT8_TYPE__ octep_u8;
typedef __UINT16_TYPE__ octep_u16;
typedef __UINT32_TYPE__ octep_u32;
typedef __UINT64_TYPE__ octep_u64;

/* What calls return. */
enum octep_status {
	OCTEP_OK = 0,
	OCTEP_BAD_VERSION = 1,
	OCTEP_BAD_OPS = 2,	/* the size of the ops table, or a null hook */
	OCTEP_BAD_OPTION = 3,	/* more than the device has, or nothing */
	OCTEP_NO_ROOM = 4,	/* a block is too small or not aligned to 64 */
	OCTEP_BELOW = 5,	/* a setting below its range */
	OCTEP_ABOVE = 6,
	OCTEP_NO_SUCH = 7	/* a setting, counter, reason or ring number, or a connection */
};

enum octep_device { OCTEP_XGS3300 = 0, OCTEP_XGS136 = 1 };

enum octep_family { OCTEP_IPV4 = 0, OCTEP_IPV6 = 1 };

struct octep_tuple {
	octep_u8 family;
	octep_u8 protocol;
	octep_u8 source_port[2];	/* an echo: the id */
	octep_u8 destination_port[2];	/* an echo: the request's type */
	octep_u8 pad[2];
	octep_u8 source[OCTEP_ADDRESS_BYTES];
	octep_u8 destination[OCTEP_ADDRESS_BYTES];
};

struct octep_ingress {
	octep_u16 port;
	octep_u16 vlan;
};

/* What a punted frame's metadata names; flow_word as the far side wrote it. */
struct octep_metadata {
	octep_u32 flow_word;
	octep_u32 association_word;
	octep_u16 port;
	octep_u16 pad[3];
};

struct octep_end {
	octep_u8 address[OCTEP_ADDRESS_BYTES];
	octep_u8 word[2];
	octep_u8 pad[6];
};

enum octep_timer { OCTEP_TIMER_OPENING = 0, OCTEP_TIMER_SETTLED = 1, OCTEP_TIMER_CLOSING = 2 };
enum octep_peer { OCTEP_PEER_SILENT = 0, OCTEP_PEER_HEARD = 1, OCTEP_PEER_ESTABLISHED = 2 };

/* The firewall's answer about a connection; see firewall.hpp for the ends. */
struct octep_state {
	octep_u8 found;
	octep_u8 protocol;
	octep_u8 timer;
	octep_u8 opener_peer;
	octep_u8 responder_peer;
	octep_u8 verdict;		/* a reason; 0: it may leave the host */
	octep_u8 pad[2];
	struct octep_end opener;
	struct octep_end responder_seen;
	struct octep_end opener_translated;
	struct octep_end responder;
	octep_u64 state_id[2];		/* 0: no such state */
	octep_u32 route[2];		/* of direction 0 and 1; 0: the route table's */
	octep_u64 age_us;
	octep_u64 remaining_us;
};

struct octep_hop {
	octep_u16 port;
	octep_u16 vlan;
	octep_u16 mtu;
	octep_u8 source_mac[OCTEP_MAC_BYTES];
	octep_u8 destination_mac[OCTEP_MAC_BYTES];
	octep_u8 pad[2];
	octep_u32 association;	/* resolve: the kernel's number of what encrypts there; 0: nothing does */
};

struct octep_hop_question {
	octep_u8 family;
	octep_u8 pad[3];
	octep_u32 route;
	struct octep_ingress from;	/* where this direction's frames arrive */
	struct octep_ingress other;	/* where the other direction's do */
	octep_u8 destination[OCTEP_ADDRESS_BYTES];	/* after translation */
	octep_u8 source[OCTEP_ADDRESS_BYTES];
};

enum octep_command_kind {
	OCTEP_COMMAND_NONE = 0,
	OCTEP_COMMAND_NEXT_HOP_SET = 1,
	OCTEP_COMMAND_NEXT_HOP_RELEASE = 2,
	OCTEP_COMMAND_CREATE = 3,
	OCTEP_COMMAND_DEACTIVATE = 4,
	OCTEP_COMMAND_RECLAIM = 5,
	OCTEP_COMMAND_READ_ENTRY = 6,
	OCTEP_COMMAND_DISCARD = 7,
	OCTEP_COMMAND_PROGRAM = 8,
	OCTEP_COMMAND_READ_MICROFLOW = 9,
	OCTEP_COMMAND_ASSOCIATION_ADD = 10,
	OCTEP_COMMAND_ASSOCIATION_DELETE = 11,
	OCTEP_COMMAND_ASSOCIATION_READ = 12
};

struct octep_microflow {
	octep_u32 flow_word;
	struct octep_ingress where;
	octep_u32 next_hop;
	octep_u16 next_hop_revision;
	octep_u16 association_revision;	/* 0: its frames leave in the clear */
	octep_u32 association;	/* that encrypts them, as the far side names it: index + 1 */
	octep_u8 source_port[2];	/* what its frames are rewritten to */
	octep_u8 destination_port[2];
	octep_u8 source[OCTEP_ADDRESS_BYTES];
	octep_u8 destination[OCTEP_ADDRESS_BYTES];
};

struct octep_command {
	octep_u8 kind;
	octep_u8 family;	/* create */
	octep_u8 protocol;	/* create */
	octep_u8 track_tcp;	/* create */
	octep_u8 translates;	/* create */
	octep_u8 direction;	/* program */
	octep_u16 revision;
	octep_u32 index;	/* connection, next hop or association */
	octep_u32 kernel;	/* association add, delete: the kernel's number; its keys are the caller's to find */
	octep_u8 encrypts;	/* association add */
	octep_u8 pad[7];
	struct octep_hop hop;	/* next hop set */
	struct octep_microflow microflows[2];	/* create; deactivate, program, read microflow: [0] */
};

enum octep_entry { OCTEP_ENTRY_RECLAIMED = 0, OCTEP_ENTRY_VALID = 1, OCTEP_ENTRY_PENDING = 2 };

struct octep_answer {
	octep_u8 refused;
	octep_u8 entry;		/* read entry */
	octep_u16 entry_revision;
	octep_u8 identical;
	octep_u8 lives;		/* read microflow */
	octep_u8 pad[2];
	octep_u32 stamp;	/* read microflow: moves with its frames */
	octep_u32 pad2;
	octep_u64 packets;	/* association read: of the index, whoever used it */
	octep_u64 bytes;
};

enum octep_step_kind { OCTEP_POST = 0, OCTEP_WAIT = 1, OCTEP_IDLE = 2 };

#define OCTEP_NEVER (~(octep_u64)0)

struct octep_step {
	octep_u8 kind;
	octep_u8 pad[7];
	octep_u64 tag;		/* post, wait */
	octep_u64 until_us;	/* wait, idle: call again by then at the latest */
	struct octep_command command;	/* post */
};

struct octep_event {
	octep_u8 kind;		/* event_kind */
	octep_u8 by;		/* 0 poll, 1 run, 2 the end of a wait */
	octep_u8 why;		/* reason */
	octep_u8 command;
	octep_u8 refused;
	octep_u8 direction;
	octep_u8 names_tuple;
	octep_u8 pad;
	octep_u64 at_us;
	octep_u64 until_us;	/* held back, hold ends */
	octep_u64 tag;
	octep_u32 connection;
	octep_u16 revision;
	octep_u16 pad2;
	octep_u32 count;
	octep_u32 pad3;
	struct octep_tuple tuple;
};

/*
 * The world.  `size` is sizeof(struct octep_ops).  No hook may sleep or call
 * back into the core.  kick is called by rings, and under the pass lock by
 * octep_set and whatever asks for work; the rest under the pass lock.
 */
struct octep_ops {
	octep_u64 size;
	void *context;
	void (*kick)(void *context);	/* call octep_next soon */
	void (*section_enter)(void *context);
	void (*section_leave)(void *context);
	void (*find_state)(void *context, const struct octep_tuple *, octep_u64 now_us, struct octep_state *);
	int (*states_alive)(void *context, const octep_u64 ids[2], octep_u64 now_us);
	void (*relax_states)(void *context, const octep_u64 ids[2], octep_u64 now_us);
	/* Until the first of them ends; 0 where one is gone. */
	octep_u64 (*states_remaining)(void *context, const octep_u64 ids[2], octep_u64 now_us);
	void (*restamp_states)(void *context, const octep_u64 ids[2], octep_u64 now_us);
	/* Returns a reason; 0: *hop is the way out. */
	octep_u8 (*resolve)(void *context, const struct octep_hop_question *, struct octep_hop *);
	/* The kernel's association gives out none of the next so many sequence numbers; so much went by under it in hardware. */
	void (*pass_over)(void *context, octep_u32 kernel, octep_u64 numbers);
	void (*account)(void *context, octep_u32 kernel, octep_u64 packets, octep_u64 bytes);
	void (*event)(void *context, const struct octep_event *);
};

struct octep_options {
	octep_u32 version;	/* OCTEP_ABI_VERSION */
	octep_u32 device;
	octep_u32 connections;
	octep_u32 next_hops;
	octep_u32 ipv6_connections;	/* 0: the recorded devices forward none, and this unit makes none */
	octep_u32 associations;	/* indexes of the far side's IPsec engine that may be used; 0: none */
	octep_u64 hash_seed;	/* not known outside */
};

/* A slot of the candidate table, for octep_choose. */
enum octep_place_state {
	OCTEP_PLACE_EMPTY = 0,
	OCTEP_PLACE_READ = 1,
	OCTEP_PLACE_UNREAD = 2
};

struct octep_place_image {
	octep_u8 state;
	octep_u8 pad[3];
	octep_u32 tick_ms;
	struct octep_tuple tuple;
};

struct octep_slot_image {
	octep_u32 places;	/* octep_places() */
	octep_u32 pad;
	struct octep_place_image place[OCTEP_PLACES_MAX];
};

struct octep_core;

/* (a) What create needs: the core's own block, and the arena's, both aligned to 64. */
octep_u64 octep_core_bytes(void) OCTEP_NOEXCEPT;
octep_u64 octep_arena_bytes(const struct octep_options *) OCTEP_NOEXCEPT;

/* (s) In place; *core is `block`. There is no destroy: stop calling, free both blocks. */
int octep_create(void *block, octep_u64 block_bytes, void *arena, octep_u64 arena_bytes,
    const struct octep_options *, const struct octep_ops *, octep_u64 now_us, struct octep_core **core) OCTEP_NOEXCEPT;

/* (r) Returns the reason why the frame left no candidate, 0 where it did. */
octep_u8 octep_punt(struct octep_core *, octep_u32 ring, const octep_u8 *frame, octep_u32 contiguous,
    octep_u32 wire_length, const struct octep_metadata *, octep_u64 now_us) OCTEP_NOEXCEPT;
/* (r) The same for a frame behind its 82 bytes of metadata. */
octep_u8 octep_punt_prefixed(struct octep_core *, octep_u32 ring, const octep_u8 *bytes, octep_u32 contiguous,
    octep_u32 wire_length, octep_u64 now_us) OCTEP_NOEXCEPT;

/* (p) */
void octep_next(struct octep_core *, octep_u64 now_us, struct octep_step *) OCTEP_NOEXCEPT;
void octep_answered(struct octep_core *, octep_u64 tag, const struct octep_answer *, octep_u64 now_us) OCTEP_NOEXCEPT;
int octep_set(struct octep_core *, octep_u32 setting, octep_u32 value, octep_u64 now_us) OCTEP_NOEXCEPT;
octep_u32 octep_get(const struct octep_core *, octep_u32 setting) OCTEP_NOEXCEPT;
void octep_request_discard(struct octep_core *) OCTEP_NOEXCEPT;
/* (p) Rules, routes or neighbours changed; states were killed or flushed; the state of one connection ended. */
void octep_changed(struct octep_core *) OCTEP_NOEXCEPT;
void octep_states_gone(struct octep_core *) OCTEP_NOEXCEPT;
int octep_state_gone(struct octep_core *, const struct octep_tuple *) OCTEP_NOEXCEPT;	/* NO_SUCH: not held */
/* (p) The far side restarted and knows nothing; it is gone, and nothing is posted until it was reset. */
void octep_far_side_reset(struct octep_core *, octep_u64 now_us) OCTEP_NOEXCEPT;
void octep_far_side_gone(struct octep_core *, octep_u64 now_us) OCTEP_NOEXCEPT;
/*
 * (p) IPsec.  The kernel has an association, by a number of its own that is
 * not 0; it goes, and its connections move to `successor` or, where that is 0
 * or not installed, are taken out before the far side forgets it.  NO_ROOM:
 * every index is in use; NO_SUCH: the far side was never given it.
 */
int octep_association_added(struct octep_core *, octep_u32 kernel, octep_u32 encrypts) OCTEP_NOEXCEPT;
int octep_association_gone(struct octep_core *, octep_u32 kernel, octep_u32 successor) OCTEP_NOEXCEPT;
/*
 * (p) By hand.  A connection is named by either of its tuples as they arrive;
 * keep_out holds until let_in.  NO_SUCH: not held, not kept out; NO_ROOM: the
 * list of those kept out is full, or an earlier host is still being removed.
 */
int octep_remove(struct octep_core *, const struct octep_tuple *) OCTEP_NOEXCEPT;
int octep_remove_host(struct octep_core *, octep_u32 family, const octep_u8 address[OCTEP_ADDRESS_BYTES]) OCTEP_NOEXCEPT;
int octep_keep_out(struct octep_core *, const struct octep_tuple *) OCTEP_NOEXCEPT;
int octep_let_in(struct octep_core *, const struct octep_tuple *) OCTEP_NOEXCEPT;
octep_u32 octep_held(const struct octep_core *) OCTEP_NOEXCEPT;

/* (a) Settings, counters and reasons by number, from 0; NO_SUCH past the last. */
struct octep_setting_text {
	const char *name, *unit, *meaning, *falling_edge;
	octep_u32 least, most, initial, pad;
};
int octep_setting(octep_u32 setting, struct octep_setting_text *) OCTEP_NOEXCEPT;

struct octep_counter_text {
	const char *name, *unit, *moved_by;
};
int octep_counter(octep_u32 counter, struct octep_counter_text *) OCTEP_NOEXCEPT;
octep_u64 octep_counter_value(const struct octep_core *, octep_u32 counter) OCTEP_NOEXCEPT;

struct octep_reason_text {
	const char *name, *sentence, *change;
};
int octep_reason(octep_u32 reason, struct octep_reason_text *) OCTEP_NOEXCEPT;

/*
 * (a) The recorded choice of a place, by the table's own code, on a slot of
 * octep_places() that the caller describes.  Pure.  OCTEP_PLACES_MAX for
 * another family than IPv4, which this unit makes no connections of: the
 * choice is the same there, and not compiled a second time.
 */
octep_u32 octep_places(void) OCTEP_NOEXCEPT;
octep_u32 octep_choose(const struct octep_slot_image *, const struct octep_tuple *, octep_u32 now_ms) OCTEP_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif /* OCTEP_ABI_H */

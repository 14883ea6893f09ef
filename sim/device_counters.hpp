// The counters of the model coprocessor, under the device's own names, and its conservation law.
//
// What it is: one enumeration, one table of names, one rule: every frame that arrives is counted once where it arrives and once
// where its way is decided, every frame that leaves once where it was put in a queue and once where it left.
// What it refuses: a counter that is computed from another. What that buys: the law can fail.
#pragma once

#include <string>

#include <octep/base.hpp>

namespace octep::sim {

// Names without a source in coprocessor.md are ours: a queue that overruns, a host that sends, an entry past its family.
enum class device_counter : u8 {
  rx_wire,
  tx_wire,
  tx_kn,       // handed to the host
  from_kn,     // sent by the host, on its way to the wire
  from_wire_to_wire,
  from_wire_to_ipsec_encr,  // forwarded through the engine that encrypts
  // Punted, by reason.
  kn_no_flow,         // the frame is no flow: it is handed up without an identity
  kn_no_microflow,    // every microflow is taken: handed up without an identity
  kn_mflow_not_active,
  kn_conn_reclaim_pending,
  kn_fw_rev_mismatch,
  kn_tcp_max_retrans,  // gave its connection back: one identical frame too many
  kn_tcp_flags,        // gave its connection back: FIN, SYN or RST
  kn_next_hop_mismatch,
  kn_ttl,
  kn_mtu,
  // Dropped, by reason.
  drop_wire_overrun,
  drop_kn_overrun,
  drop_ipsec,         // named an association that the engine does not have
  drop_host_overrun,  // a frame the host sent found the wire's queue full
  count_
};

inline constexpr usize device_counter_count = static_cast<usize>(device_counter::count_);
inline constexpr device_counter first_punt = device_counter::kn_no_flow;
inline constexpr device_counter last_punt = device_counter::kn_mtu;

[[nodiscard]] constexpr const char* name(device_counter c) noexcept {
  constexpr const char* names[] = {"RX_WIRE",
                                   "TX_WIRE",
                                   "TX_KN",
                                   "FROM_KN_TO_WIRE",
                                   "FROM_WIRE_TO_WIRE",
                                   "FROM_WIRE_TO_IPSEC_ENCR",
                                   "FROM_WIRE_TO_KN_NO_FLOW",
                                   "FROM_WIRE_TO_KN_MFLOW_TABLE_FULL",
                                   "FROM_WIRE_TO_KN_MFLOW_NOT_ACTIVE",
                                   "FROM_WIRE_TO_KN_CONN_RECLAIM_PENDING",
                                   "FW_REV_MISMATCH",
                                   "FROM_WIRE_TO_KN_TCP_MAX_RETRANS",
                                   "FROM_WIRE_TO_KN_TCP_FLAGS",
                                   "NEXT_HOP_MISMATCH",
                                   "FROM_WIRE_TO_KN_TTL",
                                   "FROM_WIRE_TO_KN_MTU",
                                   "DROP_WIRE_OVERRUN",
                                   "DROP_KN_OVERRUN",
                                   "DROP_IPSEC",
                                   "DROP_HOST_OVERRUN"};
  static_assert(sizeof(names) / sizeof(names[0]) == device_counter_count);
  return names[static_cast<usize>(c)];
}

class device_counters {
 public:
  void add(device_counter c, u64 n = 1) noexcept { value_[static_cast<usize>(c)] += n; }
  [[nodiscard]] u64 operator[](device_counter c) const noexcept { return value_[static_cast<usize>(c)]; }
  [[nodiscard]] u64 punted() const noexcept;  // all reasons
  template <class Visit>
  void each(Visit&& visit) const {  // visit(name, value)
    for (usize i = 0; i < device_counter_count; ++i) visit(name(static_cast<device_counter>(i)), value_[i]);
  }

  // The law, given what stands in the two queues. False, with the sentence that failed in `why` where it is not null.
  [[nodiscard]] bool conserved(u64 in_wire_queue, u64 in_host_queue, std::string* why) const;

 private:
  u64 value_[device_counter_count]{};
};

}  // namespace octep::sim

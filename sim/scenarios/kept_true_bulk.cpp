// The TCP of R17: a sender that probes for the receiver's window, a receiver that acknowledges every second segment,
// and selective acknowledgements. Segments are numbered; the wire sees bytes.
//
//   sender ─ link ─▶ appliance ─┬ hardware ────────────────┬─▶ port ─ some are lost ─▶ receiver's adapter, in batches
//                               └ host: a delay and a queue ┘
//
// What it refuses: delayed acknowledgements by a timer, pacing, window scaling, retransmissions that are lost twice (a
// timer ends the wait).
#include "sim/scenarios/kept_true_bulk.hpp"

#include <algorithm>
#include <deque>
#include <queue>
#include <vector>

#include "sim/model_constants.hpp"

namespace octep::sim::scenarios {

namespace {

using nanoseconds = u64;

struct timed {
  nanoseconds at;
  u64 order;
  u32 what;
  [[nodiscard]] bool operator>(const timed& b) const noexcept { return at == b.at ? order > b.order : at > b.at; }
};
using by_time = std::priority_queue<timed, std::vector<timed>, std::greater<>>;

struct said_ack {
  u32 cumulative;  // every segment below it is there
  u32 highest;     // one behind the highest that is there
  u32 serial;      // arrivals until then
  u32 distinct;    // segments among them
};

class receiver {
 public:
  std::vector<said_ack> acks;  // all that were ever sent
  u64 out_of_order = 0;

  // True: an acknowledgement is due.
  bool arrived(u32 segment) {
    if (there_.size() <= segment) there_.resize(segment + 1'000, 0);
    ++serial_;
    const bool news = there_[segment] == 0;
    const bool expected = segment == next_;
    const bool holes = next_ != highest_;
    if (news) {
      there_[segment] = serial_;
      ++distinct_;
      out_of_order += segment < highest_;
      highest_ = std::max(highest_, segment + 1);
      while (next_ < there_.size() && there_[next_] != 0) ++next_;
    }
    // In order, every second one; whatever else at once.
    if (expected && !holes && ++since_ack_ < 2) return false;
    since_ack_ = 0;
    acks.push_back({next_, highest_, serial_, distinct_});
    return true;
  }
  // Whether that segment was there when arrival `serial` was.
  [[nodiscard]] bool was_there(u32 segment, u32 serial) const {
    return segment < there_.size() && there_[segment] != 0 && there_[segment] <= serial;
  }
  [[nodiscard]] u32 in_order() const noexcept { return next_; }

 private:
  std::vector<u32> there_;  // by segment: the arrival that brought it
  u32 next_ = 0;
  u32 highest_ = 0;
  u32 serial_ = 0;
  u32 distinct_ = 0;
  u32 since_ack_ = 0;
};

class sender {
 public:
  explicit sender(const receiver& far) : far_{far} {}

  u64 retransmitted = 0;

  void heard(const said_ack& a, nanoseconds now) {
    serial_ = std::max(serial_, a.serial);
    distinct_ = std::max(distinct_, a.distinct);
    highest_ = std::max(highest_, a.highest);
    if (a.cumulative > una_) {
      const u32 acked = a.cumulative - una_;
      una_ = a.cumulative;
      progress_ = now;
      if (una_ >= recover_) grow(acked);
    }
    // Three above it are there, and it is not: lost.
    scanned_ = std::max(scanned_, una_);
    for (; scanned_ + 3 < highest_; ++scanned_)
      if (!far_.was_there(scanned_, serial_)) lost(scanned_);
  }

  // The segment to send now; none: the window is full.
  [[nodiscard]] bool may_send(u32& segment, nanoseconds now) {
    if (una_ == next_) progress_ = now;
    while (!again_.empty() && (again_.front() < una_ || far_.was_there(again_.front(), serial_))) again_.pop_front();
    const u64 out = u64{next_} - distinct_ - std::min<u64>(again_.size(), next_ - distinct_);
    if (out >= static_cast<u64>(window_)) return false;
    if (!again_.empty()) {
      segment = again_.front();
      again_.pop_front();
      ++retransmitted;
      return true;
    }
    if (next_ - una_ >= bulk_window) return false;
    segment = next_++;
    return true;
  }

  [[nodiscard]] nanoseconds gives_up_at() const noexcept {
    return una_ == next_ ? ~nanoseconds{0} : progress_ + bulk_timeout.count * 1'000;
  }
  void gives_up(nanoseconds now) {
    progress_ = now;
    again_.clear();
    for (u32 s = una_; s < next_; ++s)
      if (!far_.was_there(s, serial_)) again_.push_back(s);
    scanned_ = next_;
    recover_ = next_;
    threshold_ = std::max(window_ / 2, 2.0);
    window_ = 10;
  }

 private:
  void grow(u32 acked) {
    window_ += window_ < threshold_ ? acked : acked / window_;
    window_ = std::min(window_, static_cast<double>(bulk_window));
  }
  void lost(u32 segment) {
    again_.push_back(segment);
    if (una_ < recover_) return;
    recover_ = next_;
    threshold_ = window_ = std::max(window_ / 2, 2.0);
  }

  const receiver& far_;
  u32 una_ = 0;
  u32 next_ = 0;
  u32 recover_ = 0;
  u32 scanned_ = 0;
  u32 serial_ = 0;
  u32 distinct_ = 0;
  u32 highest_ = 0;
  double window_ = 10;
  double threshold_ = bulk_window;
  std::deque<u32> again_;
  nanoseconds progress_ = 0;
};

// Both ends, the appliance between them, and whatever is on its way.
class bench {
 public:
  bench(const design& d, const bulk_plan& plan, u64 seed) : plan_{plan}, random_{seed, 21}, sender_{receiver_} {
    appliance_options o;
    o.device = xgs136;
    o.values = initial_settings(xgs136);
    o.hash = d.hash();
    o.seed = seed;
    o.slots = d.slots;
    o.places = d.places;
    o.choice = d.choice;
    box_ = d.make(o);
    if (!plan.in_hardware) (void)box_->set(setting::auto_make, 0);
    if (!plan.holds) (void)box_->set(setting::hold_min_ms, 0);
    box_->on_event = [this](const event& e) {
      out_.made += e.kind == event_kind::made;
      out_.given_back += e.kind == event_kind::given_back;
      out_.held_back += e.kind == event_kind::held_back;
    };
  }

  bulk_outcome run() {
    now_ = 2'000'000'000 + random_.below(1'000'000'000);
    lose_at_ = now_ + 1'000'000'000;
    const nanoseconds ends = now_ + u64{plan_.seconds} * 1'000'000'000;
    (void)offer(0, tcp_flags::syn_bit, 0, 0, 0);
    now_ += 200'000;
    (void)offer(1, tcp_flags::syn_bit | tcp_flags::ack_bit, 0, 0, 0);
    now_ += 200'000;
    (void)offer(0, tcp_flags::ack_bit, 0, 0, 0);
    send_what_may_be_sent();
    for (;;) {
      const nanoseconds at = std::min({next(to_box_), next(to_port_), batch_at(), next(acks_to_box_),
                                       next(acks_to_sender_), sender_.gives_up_at()});
      if (at >= ends) break;
      now_ = std::max(now_, at);
      step(at);
    }
    out_.retransmitted = sender_.retransmitted;
    out_.out_of_order = receiver_.out_of_order;
    out_.mbit_a_second = static_cast<double>(receiver_.in_order()) * bulk_segment * 8 / 1e6 / plan_.seconds;
    out_.forwarded = static_cast<double>(forwarded_) / static_cast<double>(data_);
    out_.sound = box_->sound(nullptr);
    return out_;
  }

 private:
  static constexpr nanoseconds link_ns = wire_frame_ns;
  static constexpr nanoseconds small_ns = 672;  // of the least frame, with preamble and gap, at 1 Gbit/s

  static nanoseconds next(const by_time& q) { return q.empty() ? ~nanoseconds{0} : q.top().at; }
  static u32 take(by_time& q) {
    const u32 what = q.top().what;
    q.pop();
    return what;
  }
  void put(by_time& q, nanoseconds at, u32 what) { q.push({at, order_++, what}); }

  // The adapter hands over what has come, so often.
  nanoseconds batch_at() const {
    if (arrived_.empty()) return ~nanoseconds{0};
    const nanoseconds every = adapter_every.count * 1'000;
    return (arrived_.front().at + every - 1) / every * every;
  }

  void step(nanoseconds at) {
    if (at == next(to_box_)) return data_at_box(take(to_box_));
    if (at == next(to_port_)) return at_port(take(to_port_));
    if (at == batch_at()) return adapter(at);
    if (at == next(acks_to_box_)) return ack_at_box(take(acks_to_box_));
    if (at == next(acks_to_sender_)) {
      sender_.heard(receiver_.acks[take(acks_to_sender_)], now_);
    } else {
      sender_.gives_up(now_);
    }
    send_what_may_be_sent();
  }

  void send_what_may_be_sent() {
    for (u32 segment = 0; sender_.may_send(segment, now_);) {
      link_free_ = std::max(link_free_, now_) + std::max<nanoseconds>(link_ns, plan_.spacing_ns);
      put(to_box_, link_free_, segment);
    }
  }

  void data_at_box(u32 segment) {
    ++data_;
    const path p = offer(0, tcp_flags::ack_bit, 1 + segment * bulk_segment, bulk_segment, 1);
    forwarded_ += p == path::hardware;
    if (p != path::nowhere) put(to_port_, leaves(p), segment);
  }
  void at_port(u32 segment) {
    port_free_ = std::max(port_free_, now_) + link_ns;
    if (is_lost()) {
      ++out_.lost;
    } else {
      arrived_.push_back({port_free_, 0, segment});
    }
  }
  bool is_lost() {
    if (plan_.lost == losses::usual) return random_.one_in(lost_behind_port_one_in);
    return plan_.lost == losses::one && out_.lost == 0 && lose_at_ <= now_;
  }
  void adapter(nanoseconds at) {
    for (; !arrived_.empty() && arrived_.front().at <= at; arrived_.pop_front()) {
      if (!receiver_.arrived(arrived_.front().what)) continue;
      back_free_ = std::max(back_free_, at) + small_ns;
      put(acks_to_box_, back_free_, static_cast<u32>(receiver_.acks.size() - 1));
    }
  }
  void ack_at_box(u32 which) {
    const path p = offer(1, tcp_flags::ack_bit, 1, 0, 1 + receiver_.acks[which].cumulative * bulk_segment);
    if (p != path::nowhere) put(acks_to_sender_, leaves(p), which);
  }

  enum class path : u8 { hardware, host, nowhere };

  path offer(u32 direction, u8 flags, u32 sequence, u32 length, u32 acknowledgement) {
    frame_facts f{};
    f.why = reason::none;
    f.which = family::ipv4;
    f.v4 = direction == 0 ? opener : reverse(opener);
    const tcp_flags said{flags};
    f.syn = said.opens();
    const tcp_segment s{said, true, sequence, length, acknowledgement, bulk_window * bulk_segment};
    const u64 before = box_->rules.dropped(firewall_drop::state_mismatch);
    const arrival_verdict v = box_->arrive(direction == 0 ? 1 : 2, f, 54 + length, s, {now_ / 1'000});
    if (v.forwarded) return path::hardware;
    return box_->rules.dropped(firewall_drop::state_mismatch) == before ? path::host : path::nowhere;
  }
  nanoseconds leaves(path p) {
    if (p == path::hardware) return now_ + hardware_path.count * 1'000;
    host_free_ = std::max(host_free_, now_) + host_frame_ns;
    return host_free_ + host_path.count * 1'000;
  }

  static constexpr tuple4 opener = tuple4::make(u32{20} << 24 | 0x01'a8'c0, u32{7} << 24 | 0x64'33'c6,
                                                join_ports(port_word(40'000), port_word(5'201)), protocol::tcp);

  bulk_plan plan_;
  generator random_;
  receiver receiver_;
  sender sender_;
  std::unique_ptr<appliance> box_;
  bulk_outcome out_;
  nanoseconds now_ = 0;
  nanoseconds lose_at_ = 0;
  nanoseconds link_free_ = 0;
  nanoseconds port_free_ = 0;
  nanoseconds back_free_ = 0;
  nanoseconds host_free_ = 0;
  u64 order_ = 0;
  u64 data_ = 0;
  u64 forwarded_ = 0;
  by_time to_box_;
  by_time to_port_;
  by_time acks_to_box_;
  by_time acks_to_sender_;
  std::deque<timed> arrived_;
};

}  // namespace

bulk_outcome bulk_stream(const design& d, const bulk_plan& plan, u64 seed) { return bench{d, plan, seed}.run(); }

}  // namespace octep::sim::scenarios

// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/chain_share.h"

#include <algorithm>
#include <numeric>

#include "core/pbqp.h"
#include "core/transport.h"

namespace acrf {

namespace {

constexpr std::int64_t kMostSteps = 100'000'000;  // of the tables, over all rounds
constexpr std::size_t kMostOptions = 16;          // of a chain in the PBQP
constexpr std::size_t kMostChains = 32;           // in the PBQP

std::size_t at(int index) { return static_cast<std::size_t>(index); }

using Counts = std::vector<int>;

// A leaf's price is the sum of its own and those of the switches above it, so that a pod that all
// want gets dearer as a whole. Prices follow the excess of demand (a subgradient of the lower
// bound), smoothed, and by smaller steps when the bound stops rising.
class Prices {
 public:
  Prices(const TreeFill& fill, const std::vector<LeafRoom>& rooms);
  void set(const std::vector<std::int64_t>& by_slot);
  std::vector<std::int64_t> by_slot() const { return fill_.sum_above(price_); }
  // `missing`: what the bound lacks to the best answer.
  void follow(const std::vector<std::int64_t>& demand, std::int64_t missing);
  void slow_down() { pace_ *= 0.75; }

 private:
  std::int64_t excess(std::size_t vertex, std::int64_t demand) const;

  const TreeFill& fill_;
  std::vector<std::int64_t> low_, high_, price_;  // by vertex
  std::vector<double> direction_;
  double pace_ = 1;
};

Prices::Prices(const TreeFill& fill, const std::vector<LeafRoom>& rooms) : fill_(fill) {
  std::vector<std::int64_t> low, high;
  for (const auto& room : rooms) {
    low.push_back(room.low);
    high.push_back(room.high);
  }
  low_ = fill_.sum_below(low);
  high_ = fill_.sum_below(high);
  set(std::vector<std::int64_t>(rooms.size()));
}

void Prices::set(const std::vector<std::int64_t>& by_slot) {
  price_.assign(low_.size(), 0);
  direction_.assign(low_.size(), 0);
  for (std::size_t s = 0; s < by_slot.size(); ++s)
    price_[at(fill_.vertex_of(static_cast<int>(s)))] = by_slot[s];
}

std::int64_t Prices::excess(std::size_t vertex, std::int64_t demand) const {
  const std::int64_t over = demand - high_[vertex], under = demand - low_[vertex];
  if (price_[vertex] > 0) return over;
  if (price_[vertex] < 0) return under;
  return over > 0 ? over : std::min<std::int64_t>(under, 0);
}

void Prices::follow(const std::vector<std::int64_t>& demand, std::int64_t missing) {
  const auto below = fill_.sum_below(demand);
  double norm = 0;
  for (std::size_t v = 1; v < price_.size(); ++v) {
    direction_[v] = 0.6 * static_cast<double>(excess(v, below[v])) + 0.4 * direction_[v];
    norm += direction_[v] * direction_[v];
  }
  if (norm == 0) return;
  const double step = pace_ * static_cast<double>(missing) / norm;
  for (std::size_t v = 1; v < price_.size(); ++v) {
    const auto before = price_[v];
    auto move = static_cast<std::int64_t>(step * direction_[v]);
    if (move == 0 && direction_[v] != 0) move = direction_[v] > 0 ? 1 : -1;
    price_[v] += move;
    const bool crossed = (before > 0 && price_[v] < 0) || (before < 0 && price_[v] > 0);
    if (crossed || (price_[v] < 0 && low_[v] == 0)) price_[v] = 0;
  }
}

class Market {
 public:
  Market(TreeFill& fill, const std::vector<Chain>& chains, const std::vector<LeafRoom>& rooms,
         std::int64_t unit);
  std::optional<ChainShares> settle(int rounds);

 private:
  bool has_room() const;
  bool is_open() const { return best_.cost > bound_; }
  int affordable(int rounds) const;
  bool mostly_single() const;
  void show_prices();
  TreeFill::Answer best_leaves(std::size_t chain, const std::vector<LeafRoom>& rooms);
  void ask();
  void take_bound(std::int64_t bound);
  void remember(std::size_t chain, const Counts& counts);
  bool fits(const std::vector<Counts>& all) const;
  void offer(const std::vector<Counts>& all);
  void start();
  std::vector<LeafRoom> rooms_to_fill() const;
  void serve(int round);
  bool clash(const Counts& left, const Counts& right) const;
  void combine();

  TreeFill& fill_;
  const std::vector<Chain>& chains_;
  std::vector<LeafRoom> rooms_;
  std::int64_t unit_;
  Prices prices_;
  int wanted_ = 0, must_ = 0;                     // nodes; those of leaves that must be used up
  std::vector<std::vector<std::int64_t>> touch_;  // by chain, by slot: cost with a node there
  std::vector<std::vector<Counts>> menus_;        // by chain: what it asked for or got, once each
  std::vector<std::int64_t> demand_;              // by slot
  ChainShares best_;
  std::int64_t asked_cost_ = 0, bound_ = -1;
  int stale_rounds_ = 0;
};

Market::Market(TreeFill& fill, const std::vector<Chain>& chains, const std::vector<LeafRoom>& rooms,
               std::int64_t unit)
    : fill_(fill),
      chains_(chains),
      rooms_(rooms),
      unit_(unit),
      prices_(fill, rooms),
      menus_(chains.size()) {
  for (const auto& room : rooms_) must_ += room.low;
  for (const auto& chain : chains_) {
    wanted_ += chain.length;
    touch_.push_back(fill_.touch_costs(chain.ends));
  }
  best_.cost = INT64_MAX;
  show_prices();
}

void Market::show_prices() {
  const auto prices = prices_.by_slot();
  for (std::size_t s = 0; s < rooms_.size(); ++s) rooms_[s].price = prices[s];
}

bool Market::has_room() const {
  int high = 0;
  for (const auto& room : rooms_) high += room.high;
  return must_ <= wanted_ && wanted_ <= high;
}

int Market::affordable(int rounds) const {
  std::int64_t steps = 1;
  for (const auto& chain : chains_)
    for (const auto& room : rooms_)
      steps += std::int64_t{chain.length} * std::min(room.high, chain.length);
  return static_cast<int>(std::min<std::int64_t>(rounds, kMostSteps / steps));
}

bool Market::mostly_single() const {
  const auto single = std::count_if(chains_.begin(), chains_.end(),
                                    [](const Chain& chain) { return chain.length == 1; });
  return 2 * single >= wanted_;
}

// There is always an answer: any chain can use any room, and there is enough for all.
TreeFill::Answer Market::best_leaves(std::size_t chain, const std::vector<LeafRoom>& rooms) {
  TreeFill::Answer answer{Counts(rooms.size()), INT64_MAX};
  if (chains_[chain].length > 1)
    return fill_.solve(chains_[chain].ends, chains_[chain].length, rooms).value_or(answer);
  std::size_t best = 0;
  for (std::size_t s = 0; s < rooms.size(); ++s) {
    const std::int64_t cost = touch_[chain][s] + rooms[s].price;
    if (rooms[s].high == 0 || cost >= answer.cost) continue;
    answer.cost = cost;
    best = s;
  }
  answer.counts[best] = 1;
  return answer;
}

// Every chain's best leaves at today's prices, as if it were alone: the demand, and a lower bound.
void Market::ask() {
  show_prices();
  std::vector<Counts> asked;
  demand_.assign(rooms_.size(), 0);
  auto rooms = rooms_;
  for (auto& room : rooms) room.low = 0;
  asked_cost_ = 0;
  for (std::size_t c = 0; c < chains_.size(); ++c) {
    auto answer = best_leaves(c, rooms);
    asked_cost_ += answer.cost;
    for (std::size_t s = 0; s < rooms.size(); ++s) demand_[s] += answer.counts[s];
    remember(c, answer.counts);
    asked.push_back(std::move(answer.counts));
  }
  for (const auto& room : rooms_)
    asked_cost_ -= room.price * (room.price > 0 ? room.high : room.low);
  // Real costs are whole units, and none is negative.
  take_bound((std::max<std::int64_t>(asked_cost_, 0) + unit_ - 1) / unit_ * unit_);
  offer(asked);
}

void Market::take_bound(std::int64_t bound) {
  stale_rounds_ = bound > bound_ ? 0 : stale_rounds_ + 1;
  if (stale_rounds_ % 4 == 3) prices_.slow_down();
  bound_ = std::max(bound_, bound);
}

void Market::remember(std::size_t chain, const Counts& counts) {
  auto& menu = menus_[chain];
  if (std::find(menu.begin(), menu.end(), counts) == menu.end()) menu.push_back(counts);
}

bool Market::fits(const std::vector<Counts>& all) const {
  for (std::size_t s = 0; s < rooms_.size(); ++s) {
    int sum = 0;
    for (const auto& counts : all) sum += counts[s];
    if (sum < rooms_[s].low || sum > rooms_[s].high) return false;
  }
  return true;
}

void Market::offer(const std::vector<Counts>& all) {
  if (!fits(all)) return;
  std::int64_t cost = 0;
  for (std::size_t c = 0; c < all.size(); ++c) cost += fill_.cost(chains_[c].ends, all[c]);
  if (cost >= best_.cost) return;
  best_.counts = all;
  best_.cost = cost;
}

// A first answer and first prices, as if each of a chain's nodes paid its share of the way to its
// leaf by itself. Where all chains are of one node, that is how it is, and the answer is exact.
// Room that must be used up comes first: the rest is dearer than any way.
void Market::start() {
  const std::size_t slots = rooms_.size();
  std::vector<int> wanted, room;
  auto cost = touch_;
  std::int64_t dearest = 0;
  for (std::size_t c = 0; c < chains_.size(); ++c) {
    wanted.push_back(chains_[c].length);
    for (auto& way : cost[c]) dearest = std::max(dearest, way /= chains_[c].length);
  }
  for (const auto& r : rooms_) room.push_back(must_ ? r.low : r.high);
  const std::int64_t penalty = must_ ? (dearest + 1) * wanted_ : 0;
  if (must_) {
    for (const auto& r : rooms_) room.push_back(r.high - r.low);
    for (auto& row : cost)
      for (std::size_t s = 0; s < slots; ++s) row.push_back(row[s] + penalty);
  }
  const auto answer = transport(wanted, room, cost);
  if (!answer) return;
  std::vector<Counts> all(chains_.size(), Counts(slots));
  for (std::size_t c = 0; c < chains_.size(); ++c) {
    for (std::size_t s = 0; s < room.size(); ++s) all[c][s % slots] += answer->units[c][s];
    remember(c, all[c]);
  }
  offer(all);
  auto price = answer->price;
  for (std::size_t s = 0; must_ && s < slots; ++s)
    price[s] =
        price[slots + s] > 0 ? price[slots + s] : std::min<std::int64_t>(0, price[s] - penalty);
  price.resize(slots);
  prices_.set(price);
}

// As much room as nodes are wanted, so that room that must be used up is: where the demand is, then
// where it is dearest. Without a must, all room.
std::vector<LeafRoom> Market::rooms_to_fill() const {
  auto rooms = rooms_;
  if (must_) {
    std::vector<std::size_t> order(rooms.size());
    std::iota(order.begin(), order.end(), 0u);
    std::stable_sort(order.begin(), order.end(),
                     [&](auto a, auto b) { return rooms[a].price > rooms[b].price; });
    std::int64_t left = wanted_ - must_;
    for (auto& room : rooms) room.high = room.low;
    for (const bool as_asked : {true, false}) {
      for (const auto s : order) {
        const std::int64_t limit =
            as_asked ? std::min<std::int64_t>(rooms_[s].high, demand_[s]) : rooms_[s].high;
        const auto more = std::min(std::max<std::int64_t>(limit - rooms[s].high, 0), left);
        rooms[s].high += static_cast<int>(more);
        left -= more;
      }
    }
  }
  for (auto& room : rooms) room.low = 0;
  return rooms;
}

// Chains take their leaves one after the other, the longest first, or another every round.
void Market::serve(int round) {
  std::vector<std::size_t> order(chains_.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(),
                   [&](auto a, auto b) { return chains_[a].length > chains_[b].length; });
  std::rotate(order.begin(), order.begin() + round % static_cast<int>(order.size()), order.end());
  auto rooms = rooms_to_fill();
  std::vector<Counts> all(chains_.size());
  for (const auto c : order) {
    auto answer = best_leaves(c, rooms);
    for (std::size_t s = 0; s < rooms.size(); ++s) rooms[s].high -= answer.counts[s];
    remember(c, answer.counts);
    all[c] = std::move(answer.counts);
  }
  offer(all);
}

bool Market::clash(const Counts& left, const Counts& right) const {
  for (std::size_t s = 0; s < rooms_.size(); ++s)
    if (left[s] > 0 && right[s] > 0 && left[s] + right[s] > rooms_[s].high) return true;
  return false;
}

// One of the remembered leaf sets for each chain, such that no two clash. Three may: offer() sees
// it.
void Market::combine() {
  Pbqp problem;
  for (std::size_t c = 0; c < chains_.size(); ++c) {
    auto& menu = menus_[c];
    if (menu.size() > kMostOptions)
      menu.erase(menu.begin(), menu.end() - static_cast<int>(kMostOptions));
    remember(c, best_.counts[c]);
    std::vector<std::int64_t> costs;
    for (const auto& counts : menu) costs.push_back(fill_.cost(chains_[c].ends, counts));
    problem.add_node(std::move(costs));
  }
  for (std::size_t b = 1; b < chains_.size(); ++b) {
    for (std::size_t a = 0; a < b; ++a) {
      const auto any = std::any_of(menus_[a].begin(), menus_[a].end(), [&](const Counts& left) {
        return std::any_of(menus_[b].begin(), menus_[b].end(),
                           [&](const Counts& right) { return clash(left, right); });
      });
      if (any)
        problem.add_edge(static_cast<int>(a), static_cast<int>(b), [&](int i, int j) {
          return clash(menus_[a][at(i)], menus_[b][at(j)]) ? kForbidden : 0;
        });
    }
  }
  const auto answer = problem.solve();
  std::vector<Counts> all;
  for (std::size_t c = 0; c < chains_.size(); ++c) all.push_back(menus_[c][at(answer.option[c])]);
  offer(all);
}

std::optional<ChainShares> Market::settle(int rounds) {
  if (!has_room()) return std::nullopt;
  ask();
  if (is_open()) {
    start();
    ask();
    serve(0);
  }
  // Long chains use leaves in bulk: prices of single nodes mislead them.
  if (is_open() && !mostly_single()) {
    prices_.set(std::vector<std::int64_t>(rooms_.size()));
    ask();
    serve(0);
  }
  const int last = affordable(rounds);
  for (int round = 1; round <= last && is_open(); ++round) {
    prices_.follow(demand_, best_.cost - asked_cost_);
    ask();
    serve(round);
  }
  if (is_open() && last > 0 && chains_.size() <= kMostChains) combine();
  best_.lower_bound = bound_;
  return best_;
}

}  // namespace

std::optional<ChainShares> share_leaves(TreeFill& fill, const std::vector<Chain>& chains,
                                        const std::vector<LeafRoom>& rooms, std::int64_t unit,
                                        int rounds) {
  return Market(fill, chains, rooms, unit).settle(rounds);
}

}  // namespace acrf

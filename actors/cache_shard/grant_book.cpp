#include "actors/cache_shard/grant_book.hpp"

#include "schemas/assert.hpp"

#include <algorithm>

namespace perigee::shard {

void grant_book::open(id mine, rt::actor_tag writer,
                      const block_ledger::reservation& got) {
  grant one{writer};
  for (const auto& item : got.items)
    one.blocks.push_back(item.block);
  bool is_new = grants_.emplace(mine, std::move(one)).second;
  PERIGEE_ASSERT(is_new, "a number for two grants");
}

bool grant_book::is_writing(id which, rt::actor_tag writer) const {
  auto at = grants_.find(which);
  return at != grants_.end() && at->second.writer == writer && !at->second.is_kept;
}

bool grant_book::is_keeping(id which, rt::actor_tag keeper) const {
  auto at = grants_.find(which);
  return at != grants_.end() && at->second.writer == keeper && at->second.is_kept;
}

grant_book::sealed grant_book::seal(id which) {
  auto& one = grants_.at(which);
  sealed all;
  for (auto block : one.blocks) {
    auto came = ledger_.seal(block, owner_id{which});
    PERIGEE_ASSERT(came, "a grant's block that is not its writer's");
    one.is_kept = *came == sealing::kept;
    if (*came == sealing::stored)
      all.stored.push_back(*ledger_.key_of(block));
    all.duplicates += *came == sealing::duplicate;
  }
  if (!one.is_kept)
    grants_.erase(which);
  return all;
}

void grant_book::end(id which) {
  auto one = grants_.extract(which);
  for (auto block : one.mapped().blocks) {
    auto freed = ledger_.free(block, owner_id{which});
    PERIGEE_ASSERT(freed, "a grant's block that is not its writer's");
  }
}

std::vector<grant_book::id> grant_book::end_all_of(rt::actor_tag writer) {
  std::vector<id> theirs;
  for (const auto& [which, one] : grants_)
    if (one.writer == writer)
      theirs.push_back(which);
  for (auto which : theirs)
    end(which);
  return theirs;
}

std::size_t grant_book::count_of(rt::actor_tag writer) const {
  return static_cast<std::size_t>(std::ranges::count_if(
    grants_, [=](const auto& entry) { return entry.second.writer == writer; }));
}

} // namespace perigee::shard

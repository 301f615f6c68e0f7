#include "core/errand.h"

#include "core/thread_local.h"

namespace weft {
namespace {

WEFT_THREAD_LOCAL constinit Errands* current = nullptr;

}  // namespace

Errands::Open::Open(Errands* of) noexcept : before_(std::exchange(current, of)) {}
Errands::Open::~Open() { current = before_; }

bool Errands::leave(Errand& errand) noexcept {
  if (!current || current->any()) return false;
  current->errand_ = &errand;
  return true;
}

}  // namespace weft

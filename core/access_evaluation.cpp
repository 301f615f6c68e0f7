#include "core/access_evaluation.h"

#include "core/access_footprint.h"
#include "core/access_record.h"

namespace weft {
namespace {

Footprint everything(size_t size, bool reads, bool writes) {
  Footprint whole;
  whole.bytes = static_cast<int64_t>(size);
  whole.reads = reads;
  whole.writes = writes;
  return whole;
}

}  // namespace

void AccessEvaluation::touched(const ArgumentInfo& argument, size_t size,
                               std::vector<TouchedRange>& ranges, unsigned max_runs) const {
  for (unsigned d = 0; d < 3; ++d)
    if (launch_.global_size[d] == 0 || box_.begin[d] >= box_.end[d]) return;
  TouchedBytes bytes(max_runs);
  const bool reads = argument.reads && !argument.reads_known;
  const bool writes = argument.writes && !argument.writes_known;
  if (reads || writes) bytes.add(everything(size, reads, writes));
  for (const AccessRecord& record : argument.accesses) {
    Footprint footprint;
    footprint.reads = record.reads;
    footprint.writes = record.writes;
    switch (access::RecordEvaluation(record, launch_, box_, values_).run(footprint)) {
      case access::Outcome::nothing:
        break;
      case access::Outcome::unknown:
        bytes.add(everything(size, record.reads, record.writes));
        break;
      case access::Outcome::known:
        bytes.add(footprint);
        break;
    }
  }
  bytes.collect(size, ranges);
}

}  // namespace weft

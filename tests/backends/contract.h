// The contract suite's view of a backend: how to get a device, and in what it differs.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <ostream>
#include <string>

#include "core/ports/device.h"
#include "tests/support/test_image.h"
#include "tests/support/test_operation.h"

namespace weft::test {

struct Subject {
  const char* name;
  // A device, kept alive by what it returns.
  std::shared_ptr<port::Device> (*make)();
};

inline std::ostream& operator<<(std::ostream& out, const Subject& subject) {
  return out << subject.name;
}

class ContractTest : public ::testing::TestWithParam<Subject> {
 protected:
  ContractTest();

  // Checks what the contract leaves to the device: `holds` unless the table of differences says
  // otherwise, and then not.
  void expectHolds(const std::string& what, bool holds) const;
  // The same for partition(); true when the device can.
  bool partitions() const;

  std::unique_ptr<port::Stream> stream(port::Order order = port::Order::in_order) {
    return device->createStream(order);
  }
  // Submits, waits and expects success.
  void run(port::Stream& stream, const port::Operation::Work& work);
  void write(port::Memory& memory, const void* from, size_t bytes, size_t offset = 0);
  void read(port::Memory& memory, void* to, size_t bytes, size_t offset = 0);

  std::shared_ptr<port::Device> device;
  std::unique_ptr<port::Module> module;
  std::unique_ptr<port::Stream> transfers;
};

std::string subjectName(const ::testing::TestParamInfo<Subject>& info);
// Made when first asked for: what finds a GPU has statics of its own.
const std::vector<Subject>& subjects();

}  // namespace weft::test

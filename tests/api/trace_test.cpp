// What a traced entry point prints or records, and that it passes everything on.
#include "api/trace.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <regex>

#include "profiling/trace_reader.h"
#include "profiling/trace_writer.h"

namespace weft::api {
namespace {

using Callback = void(CL_CALLBACK*)(cl_int, void*);

cl_int CL_API_CALL takesAll(cl_context context, cl_int number, size_t size, const char* text,
                            const void* data, Callback callback) {
  if (callback) callback(number, const_cast<void*>(data));
  return context ? static_cast<cl_int>(size) : text ? CL_INVALID_CONTEXT : CL_SUCCESS;
}
void* CL_API_CALL makes(size_t size, cl_int* code) {
  if (code) *code = size ? CL_SUCCESS : CL_INVALID_BUFFER_SIZE;
  return size ? reinterpret_cast<void*>(0x1000 + size) : nullptr;
}
void* CL_API_CALL finds(const char* name) { return name ? reinterpret_cast<void*>(0x20) : nullptr; }
void CL_API_CALL frees(void* pointer) { *static_cast<int*>(pointer) = 1; }

template <class F>
std::string printed(F&& call) {
  testing::internal::CaptureStderr();
  call();
  return testing::internal::GetCapturedStderr();
}

void expectLine(const std::string& line, const std::string& call) {
  const std::string start = "weft: " + call;
  EXPECT_EQ(line.substr(0, start.size()), start) << line;
  const std::string rest = line.substr(std::min(line.size(), start.size()));
  EXPECT_TRUE(std::regex_match(rest, std::regex("  [0-9]+\\.[0-9] us\n"))) << rest;
}

TEST(Trace, PrintsArgumentsAndCode) {
  cl_int result = 1;
  int seen = 0;
  const auto context = reinterpret_cast<cl_context>(0x40);
  const Callback note = [](cl_int number, void* user) { *static_cast<int*>(user) = number; };
  EXPECT_NE(printed([&] { Traced<takesAll>::printed(context, -7, 1, nullptr, &seen, note); }), "");
  expectLine(printed([&] {
               result = Traced<takesAll>::printed(context, -7, 4096, "a name", nullptr, nullptr);
             }),
             "takesAll(0x40, -7, 4096, \"a name\", NULL, NULL) = 4096");
  EXPECT_EQ(result, 4096);
  EXPECT_EQ(seen, -7);
  expectLine(
      printed([&] { result = Traced<takesAll>::printed(nullptr, 1, 0, "", nullptr, nullptr); }),
      "takesAll(NULL, 1, 0, \"\", NULL, NULL) = -34");
  EXPECT_EQ(result, CL_INVALID_CONTEXT);
}

TEST(Trace, CutsLongTexts) {
  const std::string name(1000, 'x');
  expectLine(printed([&] { Traced<finds>::printed(name.c_str()); }),
             "finds(\"" + std::string(80, 'x') + "...\") = 0x20");
  expectLine(printed([] { Traced<finds>::printed(nullptr); }), "finds(NULL) = NULL");
}

TEST(Trace, TellsTheCodeOfACreatorWantedOrNot) {
  cl_int code = 1;
  void* made = nullptr;
  expectLine(printed([&] { made = Traced<makes>::printed(5, nullptr); }),
             "makes(5, NULL) = 0x1005, code 0");
  EXPECT_EQ(made, reinterpret_cast<void*>(0x1005));
  EXPECT_NE(printed([&] { made = Traced<makes>::printed(0, &code); }).find(") = NULL, code -61"),
            std::string::npos);
  EXPECT_EQ(made, nullptr);
  EXPECT_EQ(code, CL_INVALID_BUFFER_SIZE);
}

TEST(Trace, FunctionsWithoutAResult) {
  int freed = 0;
  const std::string line = printed([&] { Traced<frees>::printed(&freed); });
  EXPECT_EQ(freed, 1);
  EXPECT_EQ(line.find(" = "), std::string::npos);
  EXPECT_EQ(line.find("weft: frees(0x"), 0u);
}

TEST(Trace, RecordsNameCodeAndTime) {
  namespace fs = std::filesystem;
  std::string folder = (fs::temp_directory_path() / "weft-calls-XXXXXX").string();
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  profiling::TraceWriter::start(folder, 1 << 20);
  cl_int code = 1;
  int freed = 0;
  EXPECT_EQ(Traced<makes>::recorded(0, &code), nullptr);
  EXPECT_EQ(code, CL_INVALID_BUFFER_SIZE);
  EXPECT_EQ(Traced<makes>::recorded(0, nullptr), nullptr);
  Traced<frees>::recorded(&freed);
  EXPECT_EQ(freed, 1);
  EXPECT_EQ((Traced<takesAll>::recorded(nullptr, 1, 0, "", nullptr, nullptr)), CL_INVALID_CONTEXT);
  profiling::TraceWriter::stop();
  EXPECT_EQ(Traced<finds>::recorded("it"), finds("it"));  // and leaves nothing

  const auto processes = profiling::readTraces(folder);
  fs::remove_all(folder);
  ASSERT_EQ(processes.size(), 1u);
  std::vector<std::pair<std::string, int64_t>> calls;
  for (const profiling::TracedCall& call : processes[0].calls) {
    EXPECT_LE(call.record.began, call.record.ended);
    calls.emplace_back(call.name, call.record.code);
  }
  EXPECT_EQ(calls,
            (std::vector<std::pair<std::string, int64_t>>{{"makes", CL_INVALID_BUFFER_SIZE},
                                                          {"makes", CL_INVALID_BUFFER_SIZE},
                                                          {"frees", CL_SUCCESS},
                                                          {"takesAll", CL_INVALID_CONTEXT}}));
}

TEST(Trace, ATableWithoutTraceHoldsTheEntryPointsThemselves) {
  EXPECT_EQ((entry<CallTrace::none, finds>()), &finds);
  EXPECT_EQ((entry<CallTrace::printed, finds>()), &Traced<finds>::printed);
  EXPECT_EQ((entry<CallTrace::recorded, finds>()), &Traced<finds>::recorded);
}

}  // namespace
}  // namespace weft::api

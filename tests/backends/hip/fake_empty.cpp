// A shared library without a single entry point.
namespace {
[[maybe_unused]] int nothing = 0;
}

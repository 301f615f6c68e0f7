#include "profiling/time_curve.h"

#include <iterator>

namespace weft::profiling {
namespace {

constexpr double half_known = 1;              // measurements that make a confidence of one half
constexpr double half_life = 60 * 24 * 3600;  // seconds in which confidence halves
constexpr double octaves_to_half = 3;         // from the nearest measured size

double timeOf(const Samples& samples) { return samples.rate * samples.size; }

// Through two points, as a fixed cost and a rate, neither below zero.
double along(const Samples& low, const Samples& high, double size) {
  const double slope = std::max((timeOf(high) - timeOf(low)) / (high.size - low.size), 0.0);
  const double nearest = size < low.size ? timeOf(low) : timeOf(high);
  const double at = size < low.size ? low.size : high.size;
  const double line = nearest + slope * (size - at);
  // A line that falls below proportion has a negative fixed cost.
  return std::max(line, size < at ? nearest * size / at : nearest);
}

double between(const Samples& low, const Samples& high, double size) {
  const double part = std::log(size / low.size) / std::log(high.size / low.size);
  return timeOf(low) * std::pow(timeOf(high) / timeOf(low), part);
}

double confidenceOf(const Samples& samples, double size, int64_t now) {
  const double count = static_cast<double>(samples.count);
  const double age = static_cast<double>(std::max<int64_t>(now - samples.updated, 0));
  const double distance = std::abs(std::log2(size / samples.size));
  return count / (count + half_known) * std::exp2(-age / half_life) *
         std::exp2(-distance / octaves_to_half) / (1 + samples.spread());
}

}  // namespace

std::optional<Prediction> predict(const Curve& curve, double size, int64_t now) {
  if (curve.empty() || !(size >= 1)) return std::nullopt;
  auto high = curve.begin();
  while (high != curve.end() && high->second.size < size) ++high;
  const bool above = high == curve.end(), below = high == curve.begin();
  const Samples* first = below ? &high->second : &std::prev(high)->second;
  const Samples* second = above ? first : &high->second;
  const Samples& nearest =
      below || (!above && second->size / size < size / first->size) ? *second : *first;
  Prediction result{0, nearest.spread(), confidenceOf(nearest, size, now)};
  if (curve.size() == 1)
    result.nanoseconds = nearest.rate * size;
  else if (above)
    result.nanoseconds = along(std::prev(high, 2)->second, *first, size);
  else if (below)
    result.nanoseconds = along(*first, std::next(high)->second, size);
  else
    result.nanoseconds = between(*first, *second, size);
  return result;
}

}  // namespace weft::profiling

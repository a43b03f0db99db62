"""See the package."""

constexpr = int

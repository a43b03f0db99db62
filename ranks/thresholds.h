// The thresholds of judgements about a job: which records are one collective, which clocks agree, who is slow, and what is worth
// naming. Limits of memory, time and listed names are in the files that have them.
//
// Calibration. Those of matching and clocks: planted jobs whose records and clocks are known (MatchTrials of
// tests/unit/ranks/match_trials_test.cc; rates in docs/how-it-works/benchmarks/ranks.md, "Matching and clocks"). Those of prices:
// simulated jobs with planted faults, whose cost is that of a simulation without the fault, and jobs without a fault, in which
// nobody may be named (tests/ranks/clean.py; the same page, "Real processes" and "Batches with several ranks"). No threshold was
// chosen by looking at those jobs without a fault, so they test the numbers. After a change, run both again.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/base/ids.h"

namespace gpuprof::inline ranks {

// Records that are one collective (match_order.h; decision 0036).

// Too few pauses tell nothing.
inline constexpr std::size_t kFewestPauses = 8;
// Of a place in the step, so that its usual pause is known.
inline constexpr std::size_t kFewestOfPlace = 4;
// Times the median size: a checkpoint alone must not decide.
inline constexpr double kMostUsual = 3;
// Correlation of the pauses of two ranks. If each recorded every k-th collective only, but not the same ones, it is at most
// 1 - 1/k; noise of the ends takes some away.
inline constexpr double kSameCollectives = 0.9;
// By one clock, records of one collective overlap, because nobody leaves it before all have come, and those of two
// collectives of a group overlap less, if at all: some run side by side. Ends come late, and clocks of GPUs are inexact: of
// the places, so many have to overlap; of the shorter record, so much; and with the next place it may be at most so much of that.
inline constexpr double kOverlapping = 0.9, kOfShorter = 1.0 / 3, kWithNext = 0.8;
// Of its numbered collectives, the part that a rank may count to other steps than most ranks.
inline constexpr double kOtherSteps = 0.1;

// Ranks of one machine that no recording names (hosts.h; decision 0036).

// Clocks of the GPUs of one machine differ by a few microseconds: in a public recording of eight V100, ends agree to 3 us.
inline constexpr DurNs kSameEnd = 20'000;
// Fewer ends may agree by chance; of more, this share has to agree.
inline constexpr std::size_t kFewestEnds = 3;
inline constexpr double kAgreeing = 0.9;
// Where ends are dense, each has another one near it. Of the time, so much may be near an end of the other rank.
inline constexpr double kMostNear = 0.1;
// Aligned clocks of two hosts nearly never differ by so little.
inline constexpr double kSameHostNs = 10'000, kSameHostPpm = 3;

// Clocks (clocks.h, clock_system.h, clock_jump.h, clock_brackets.h; decision 0033).

// A clock is aligned with so many collectives, and residuals that are not larger.
inline constexpr std::uint32_t kFewestInstances = 8;
inline constexpr double kMaxResidualNs = 1e6;
// A time system that steers a clock keeps it within 20 ppm as a rule, and none steers faster than 600.
inline constexpr double kPriorRate = 20e-6, kMaxRate = 600e-6;
// Clocks of one host, each of a rank, are wrong alike.
inline constexpr double kAlmostWorst = 0.9;
// A clock was set: leads on each side, and the size of the step as a multiple of the spread of the sides.
inline constexpr std::size_t kFewestLeads = 8;
inline constexpr double kClearJump = 4;
// Bounds of two clocks' difference that are wider are of no use; and of the usual slack of a pair of ranks, because in some
// steps one of them waited for others in every message.
inline constexpr double kMostSlackNs = 250'000, kMostOfUsual = 2;

// What held a rank up (collectives_of_rank.h, collective_launches.h).

// A collective held the device up if nothing was computed in its last part of this length.
inline constexpr DurNs kLastPart = 20'000;
// Of two collectives that follow each other, by inexact clocks.
inline constexpr DurNs kMostOverlap = 1'000'000;
// Between two kernels of one stream, when the second was already there.
inline constexpr DurNs kBackToBack = 10'000;
// A synchronisation that returns at once did not wait. A launch or copy that takes this long waited for room in the queue.
inline constexpr DurNs kWaited = 20'000, kQueueFull = 100'000;
// A wait is certain from this multiple of the error of the two clocks on.
inline constexpr double kCertainWait = 3;

// Slower than the peers (peers.h, slow_units.h, kernel_ratios.h). GPUs of one model differ by up to 0.3 %, kernels vary by up to
// 2 % in the jobs without a fault.

inline constexpr std::size_t kFewestPeers = 4;
inline constexpr std::size_t kFewestRanks = 3;  // that run a kernel, for a median
// Of the median rank's kernel; of the usual transfer of equal messages.
inline constexpr double kSlowerKernel = 1.03, kSlowerTransfer = 1.2;
// Of a rank's kernel time: comparable, and slower, for a GPU that is slow.
inline constexpr double kMostKernels = 0.8;
// Of a step: an excess that is worth a replay, and one that counts as a delay of that step.
inline constexpr double kWorthwhile = 0.004, kDelay = 0.01;
// A delay that is a part of its mean in fewer steps than this share comes and goes.
inline constexpr double kSteady = 0.5, kOfMean = 0.25;
// Of all delays that come and go, for one rank or host to have them.
inline constexpr double kNearlyAllDelays = 0.8;

// Worth naming (stragglers.h): the cost as a share of the step, as a multiple of its error, and in how many steps. In fewer steps
// nothing tells chance from habit, and nobody is named.
inline constexpr double kMaterial = 0.01, kCertain = 3, kShareOfSteps = 0.2;
inline constexpr std::size_t kFewestSteps = 3;

// Uneven (table imbalance). Below this ratio, what differs is noise or rounding; messages are bytes, and differ or do not.
inline constexpr double kEven = 1.02, kEvenBytes = 1.0005;
// The same rank has most in this share of the steps.
inline constexpr double kSteadyShare = 0.6;

}  // namespace gpuprof::ranks

// The ranks of one run on this machine: processes that start and end together.
#pragma once

namespace attnscope {

// Names the file through which ranks started by launch_ranks find each other.
inline constexpr const char* meeting_variable = "ATTNSCOPE_MEETING";

// Starts this program `count` times with its own arguments, each with its own rank (place_from_environment), and waits
// for all to end. SIGINT, SIGTERM and SIGHUP are forwarded. If a rank ends early, the others are terminated; rank 0
// gets time to save the run. Returns the exit status of rank 0, or of the first rank that failed, which has reported
// the reason; throws RanksError naming the rank if it could not report, with the advice on how to continue.
int launch_ranks(int count, const char* advice = "train --resume continues the run");

// Called by a rank early: makes the kernel send it SIGTERM when the process that started it ends.
void end_with_launcher();

}  // namespace attnscope

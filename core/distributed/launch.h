// The ranks of one run on this machine: processes that are started, and end, together.
#pragma once

namespace attnscope {

// Names the file in which the ranks that launch_ranks started find each other.
inline constexpr const char* meeting_variable = "ATTNSCOPE_MEETING";

// Starts this program `count` times, with the arguments that it was given itself, each in its place
// (place_from_environment), and waits for all to end. SIGINT, SIGTERM and SIGHUP are passed on. When one ends by itself
// before its time the others are ended, rank 0 with time to save the run. Returns the exit status of rank 0, or of the
// one that failed first, which has said why; throws RanksError with its name if it could not.
int launch_ranks(int count);

// To be called by a rank early: it is sent SIGTERM as soon as the process that started it is no more.
void end_with_launcher();

}  // namespace attnscope

#ifndef WAVE_OPS_TD
#define WAVE_OPS_TD
// Everything of the dialect. The op files are also generated from one by one (see CMakeLists.txt).
include "wave/WaveComputeOps.td"
include "wave/WaveElementwiseOps.td"
include "wave/WaveKernelOps.td"
include "wave/WaveLayout.td"
include "wave/WaveMemoryOps.td"
include "wave/WaveSyncOps.td"
#endif

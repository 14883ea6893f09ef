// octep: everything, for consumers. A header of the core includes what it needs instead.
//
// Floor 14.
#pragma once

#include <octep/backoff.hpp>
#include <octep/engine/engine.hpp>
#include <octep/histograms.hpp>
#include <octep/tables.hpp>
#include <octep/why.hpp>

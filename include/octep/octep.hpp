// octep: everything, for consumers. A header of the core includes what it needs instead.
//
// Floor 14.
#pragma once

#include <octep/backoff.hpp>
#include <octep/engine/engine.hpp>

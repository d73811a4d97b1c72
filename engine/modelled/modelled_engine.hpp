/// \file
/// modelled_engine: an engine without a model, for virtual time and for trying things
/// out.
#pragma once

#include "engine/engine.hpp"
#include "engine/modelled/modelled_model.hpp"

#include <memory>

namespace perigee::engine {

/// An engine that answers what expected_tokens() says, at once; cost() says what it
/// would have taken.
///
/// A *checked* one writes a fingerprint of each token into the arena, layer by layer,
/// and reads those of all earlier positions back through the block table for every
/// slice. So KV that is missing, stale, overwritten or another sequence's changes the
/// tokens of everybody who reads it. Its cost in real time grows with layers and
/// positions: meant for layouts as small as the default.
///
/// One that is not checked costs next to nothing whatever the layout; its tokens follow
/// from the one before, the position and the sampler.
///
/// Asserts that the numbers in `options` are above 0, and the vocabulary above
/// `modelled_end`.
std::unique_ptr<engine> make_modelled_engine(modelled_options options);

} // namespace perigee::engine

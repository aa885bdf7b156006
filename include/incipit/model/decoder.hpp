// SPDX-License-Identifier: MIT
/// @file
/// @brief Decoder-only transformers of any size and style, and the one-layer transformer of paper A.
#pragma once

#include <incipit/init/initialize.hpp>
#include <incipit/loss/label_rows.hpp>
#include <incipit/nn/block.hpp>
#include <incipit/nn/embedding.hpp>
#include <incipit/nn/positions.hpp>

namespace incipit::inline INCIPIT_ABI::model {

/// How a decoder knows where a token stands.
enum class Positions {
  none,       ///< only through the causal mask
  learned,    ///< a table of parameters, added to the embedding
  sinusoidal  ///< a fixed table, added to the embedding
};
/// What turns the last stream into logits.
enum class Head {
  untied,  ///< a matrix of its own, (C, D), no bias
  tied,    ///< the embedding table, transposed
  none     ///< nothing: the stream is the logits, over a label space of C
};
/// Which positions have an output.
enum class Output {
  last,  ///< the last of every sequence: (B, ...)
  every  ///< all: (B T, ...)
};

/// Sizes of a decoder; for a template argument each is a constant or `dyn`.
struct DecoderSizes {
  Extent vocab = dyn;   ///< D
  Extent width = dyn;   ///< C
  Extent layers = dyn;  ///< number of blocks
  Extent heads = dyn;   ///< H
  Extent key = dyn;     ///< d_k = d_v of one head
  Extent hidden = dyn;  ///< F
  Extent length = dyn;  ///< T, the longest sequence
};

/// @brief A decoder as a template argument.
struct DecoderConfig {
  nn::BlockStyle block{};                    ///< norms, biases, projection
  Positions positions = Positions::learned;  ///< how it knows positions
  Head head = Head::untied;                  ///< what gives logits
  bool final_norm = true;                    ///< one more norm before the head
  Output output = Output::last;              ///< which positions have logits
  double eps = 1e-5;                         ///< of all norms
  DecoderSizes sizes{};                      ///< constants, or `dyn`
};

/// @brief Decoder-only transformer.
/// @par Shapes   tokens: (B, T) ids; stream x: (B T, C); logits: (B, D) or (B T, D) by `output`, (., C) without a head.
/// @par Forward  \f$ x^0_{bt} = w_{t_{bt}} + p_t,\; x^{l+1} = \mathrm{Block}_l(x^l),\; z = N(x^{last})\, W_U \f$; if only
///               the last position is asked for, the last block computes nothing else
/// @par Backward that of the parts in reverse; \f$ dw_s \mathrel{+}= \sum_{b,t} [t_{bt} = s]\, dx^0_{bt} \f$, and with a
///               tied head \f$ dW_E \mathrel{+}= dz^T N(x^{last}) \f$
/// @details `forward` and `backward` take whole batches. `loss_and_gradient` runs them over chunks of sequences that stay
/// in cache, and allocates nothing after the first call.
/// @par Cost     6 B T C (4 H d_k + 2 F) FLOPs a layer and training step, a T-th of most of it in the last for Output::last.
/// @par Checked  tests/model/decoder_test.cpp
template <Real T, DecoderConfig S = DecoderConfig{}, nn::ActivationFunction A = nn::GeluTanh>
struct Decoder {
  using Scalar = T;                           ///< scalar type
  using ActivationType = A;                   ///< the activation
  using Block = nn::Block<T, S.block, A>;     ///< one layer
  using Norm = typename Block::Norm;          ///< the final norm
  static constexpr DecoderConfig config = S;  ///< the template argument

  /// All parameters; also the type of the gradient.
  struct Params {
    using Scalar = T;                                    ///< scalar type
    DecoderSizes sizes;                                  ///< the sizes in use
    typename nn::Embedding<T>::Params embedding;         ///< (D, C)
    typename nn::LearnedPositions<T>::Params positions;  ///< (T, C), if learned
    std::vector<typename Block::Params> blocks;          ///< the layers
    typename Norm::Params norm;                          ///< if final_norm
    typename nn::Linear<T, dyn, dyn, false>::Params head;  ///< (C, D), if untied
    /// @brief Sizes, without memory until Owned seats it. @throws ShapeError for sizes below 1 or unlike static ones.
    explicit Params(DecoderSizes s)
        : sizes(checked(s)),
          embedding(s.vocab, s.width),
          positions(s.length, s.width),
          blocks(static_cast<std::size_t>(s.layers), typename Block::Params({{s.width, s.heads, s.key, s.key}, s.hidden})),
          norm(s.width),
          head(s.width, s.vocab) {}
    /// The static sizes.
    Params()
      requires(S.sizes.vocab != dyn && S.sizes.width != dyn && S.sizes.layers != dyn && S.sizes.heads != dyn &&
               S.sizes.key != dyn && S.sizes.hidden != dyn && S.sizes.length != dyn)
        : Params(S.sizes) {}
    /// visitor(name, slot) for "embedding.weight", "positions.weight", "blocks.0.norm_1.gain", ..., "head.weight".
    template <class F> void for_each_parameter(F&& f) { visit(*this, f); }
    /// visitor(name, slot) for "embedding.weight", "positions.weight", "blocks.0.norm_1.gain", ..., "head.weight".
    template <class F> void for_each_parameter(F&& f) const { visit(*this, f); }

   private:
    static DecoderSizes checked(const DecoderSizes& s) {
      const auto check = [](std::string_view name, Extent declared, Extent n) {
        require<ShapeError>(n >= 1 && fits(declared, n), name, n, declared == dyn ? "at least 1" : "the static size");
      };
      check("vocab", S.sizes.vocab, s.vocab);
      check("width", S.sizes.width, s.width);
      check("layers", S.sizes.layers, s.layers);
      check("heads", S.sizes.heads, s.heads);
      check("key", S.sizes.key, s.key);
      check("hidden", S.sizes.hidden, s.hidden);
      check("length", S.sizes.length, s.length);
      return s;
    }
    template <class Self, class F>
    static void visit(Self& self, F& f) {
      visit_part("embedding", self.embedding, f);
      if constexpr (S.positions == Positions::learned) visit_part("positions", self.positions, f);
      for (std::size_t l = 0; l < self.blocks.size(); ++l) visit_part("blocks." + std::to_string(l), self.blocks[l], f);
      if constexpr (S.final_norm) visit_part("norm", self.norm, f);
      if constexpr (S.head == Head::untied) visit_part("head", self.head, f);
    }
  };
  using Parameters = Owned<Params>;  ///< parameters with their memory; gradients too

  /// What forward keeps for backward.
  struct Cache {
    Buffer<Id> tokens;                           ///< (B, T)
    Buffer<T> x;                                 ///< (B T, C) embeddings and positions
    std::vector<typename Block::Cache> blocks;   ///< the layers
    typename Norm::Cache norm;                   ///< of the final norm
    Buffer<T> stream;                            ///< (B or B T, C) what the head reads
    Buffer<T> logits;                            ///< (B or B T, D)
    mutable Buffer<T> dlast, dx;                 ///< scratch of backward
    mutable GemmWorkspace<T> workspace;          ///< scratch of the products
    Mat<T> sinusoids;                            ///< (T, C) for Positions::sinusoidal
  };

  /// Buffers of loss_and_gradient; grow once.
  class Workspace {
   public:
    /// Sequences per chunk; 0 chooses them so that a chunk has about 256 rows.
    explicit Workspace(Extent chunk_sequences = 0) : wanted_(chunk_sequences) {
      require(chunk_sequences >= 0, "chunk_sequences", chunk_sequences, "0 (automatic) or a positive number of sequences");
    }
    /// What the last chunk left: attention weights and streams of all layers.
    const Cache& cache() const { return cache_; }

   private:
    friend struct Decoder;
    Extent chunk(Extent length) const { return wanted_ ? wanted_ : (std::max)(Extent(256) / length, Extent(1)); }
    Extent wanted_;
    Cache cache_;
  };

  /// @brief Weights by the scheme, each from the stream of its name; biases 0, gains 1.
  /// @details Fan-in is the number of rows, and the vocabulary for positions as for embeddings.
  template <init::EntryScheme Scheme>
  static void initialize(Parameters& params, const Scheme& scheme, std::uint64_t seed) {
    params.for_each_parameter([&](std::string_view name, auto& slot) {
      if (name.ends_with("bias"))
        slot.setZero();
      else if (name.ends_with("gain"))
        slot.setOnes();
      else
        init::fill_with_fan(slot, scheme, {name == "positions.weight" ? params.sizes.vocab : slot.rows(), slot.cols()},
                            RandomStream(seed, name));
    });
  }

  /// Logits of the asked positions. @throws IndexError for an id outside [0, D), ShapeError for a wrong length.
  const Slot<T>& forward(const Params& params, In<Mat<Id>> tokens, Cache& cache) const {
    const Extent length = tokens.cols();
    require<ShapeError>(length >= 1, "tokens.cols", length, "at least 1");
    if (S.positions != Positions::none && length > params.sizes.length) [[unlikely]]
      fail<ShapeError>("tokens.cols", length, "at most the longest sequence, " + std::to_string(params.sizes.length));
    nn::require_ids(tokens, params.sizes.vocab);
    cache.tokens.assign(tokens);
    embed(params, cache);
    if (cache.blocks.size() != params.blocks.size()) cache.blocks.resize(params.blocks.size());
    const Slot<T>* x = &cache.x;
    for (std::size_t l = 0; l < params.blocks.size(); ++l)
      x = &block(params, l, length).forward(params.blocks[l], *x, cache.blocks[l]);
    if constexpr (S.final_norm) x = &Norm{S.eps}.forward(params.norm, *x, cache.norm);
    if constexpr (S.head == Head::none) {
      cache.logits.assign(*x);
      return cache.logits;
    }
    cache.stream.assign(*x);
    cache.logits.resize(x->rows(), params.sizes.vocab);
    if constexpr (S.head == Head::untied)
      product(cache.stream, params.head.weight, cache.logits, Accumulate::no, cache.workspace);
    else
      product_nt(cache.stream, params.embedding.weight, cache.logits, Accumulate::no, cache.workspace);
    return cache.logits;
  }

  /// Adds the gradient of sum(dlogits * logits) of the last forward pass to grad.
  void backward(const Params& params, const Cache& cache, In<Mat<T>> dlogits, Params& grad) const {
    const Extent length = cache.tokens.cols(), rows = S.output == Output::last ? cache.tokens.rows() : cache.x.rows();
    require_size("dlogits.rows", dlogits.rows(), rows);
    require_size("dlogits.cols", dlogits.cols(), S.head == Head::none ? params.sizes.width : params.sizes.vocab);
    require_same_sizes(params, grad);
    cache.dlast.resize(rows, params.sizes.width);
    if constexpr (S.head == Head::none) {
      cache.dlast = dlogits;
    } else if constexpr (S.head == Head::untied) {
      product_tn(cache.stream, dlogits, grad.head.weight, Accumulate::yes, cache.workspace);
      product_nt(dlogits, params.head.weight, cache.dlast, Accumulate::no, cache.workspace);
    } else {
      product_tn(dlogits, cache.stream, grad.embedding.weight, Accumulate::yes, cache.workspace);
      product(dlogits, params.embedding.weight, cache.dlast, Accumulate::no, cache.workspace);
    }
    if constexpr (S.final_norm) Norm{S.eps}.backward(params.norm, cache.norm, cache.dlast, cache.dlast, grad.norm);
    cache.dx.resize(cache.x.rows(), cache.x.cols());
    const Slot<T>* dy = &cache.dlast;
    for (std::size_t l = params.blocks.size(); l-- > 0; dy = &cache.dx)
      block(params, l, length).backward(params.blocks[l], cache.blocks[l], *dy, cache.dx, grad.blocks[l]);
    for (Extent n = 0; n < cache.dx.rows(); ++n) {
      grad.embedding.weight.row(cache.tokens(n / length, n % length)) += cache.dx.row(n);
      if constexpr (S.positions == Positions::learned) grad.positions.weight.row(n % length) += cache.dx.row(n);
    }
  }

  /// @brief Cross entropy against labels, and its gradient added to grad.
  /// @par Shapes tokens: (B, T); labels: B rows, or B T with Output::every, sequence by sequence.
  /// @throws IndexError, ShapeError; NonFiniteError when the loss is not finite (grad is then unusable).
  T loss_and_gradient(const Params& params, In<Mat<Id>> tokens, const loss::LabelRows<T>& labels, Workspace& ws,
                      Params& grad) const {
    const Extent outputs = S.output == Output::last ? 1 : tokens.cols();
    require_size("labels.rows", labels.rows(), tokens.rows() * outputs);
    labels.require_labels(label_space(params));
    loss::LossSum<T> total(0);
    for_each_chunk(params, tokens, ws, [&](Extent row, Slot<T>& logits) {
      for (Extent n = 0; n < logits.rows(); ++n)
        total += loss::label_row(&logits(n, 0), logits.cols(), labels, row * outputs + n);
      backward(params, ws.cache_, logits, grad);
    });
    if (!is_finite(T(total))) [[unlikely]]
      fail<NonFiniteError>("loss", T(total), "a finite number");
    return T(total);
  }

  /// @brief Calls visit(n, logits of row n) for every output row in order, in cache-sized chunks.
  /// @throws IndexError for an id outside [0, D).
  template <class Visit>
  void for_each_logits(const Params& params, In<Mat<Id>> tokens, Workspace& ws, Visit&& visit) const {
    const Extent outputs = S.output == Output::last ? 1 : tokens.cols();
    for_each_chunk(params, tokens, ws, [&](Extent row, Slot<T>& logits) {
      for (Extent n = 0; n < logits.rows(); ++n)
        visit(row * outputs + n, Eigen::Map<const Row<T>>(&logits(n, 0), logits.cols()));
    });
  }

  /// Number of classes: D, or C without a head.
  static Extent label_space(const Params& params) { return S.head == Head::none ? params.sizes.width : params.sizes.vocab; }

 private:
  static Block block(const Params& params, std::size_t l, Extent length) {
    return {length, S.output == Output::last && l + 1 == params.blocks.size(), S.eps, nn::Mask::causal()};
  }
  static void embed(const Params& params, Cache& cache) {
    const Extent length = cache.tokens.cols();
    cache.x.resize(cache.tokens.size(), params.sizes.width);
    if constexpr (S.positions == Positions::sinusoidal)
      if (cache.sinusoids.rows() != params.sizes.length || cache.sinusoids.cols() != params.sizes.width)
        cache.sinusoids = nn::sinusoidal_positions(params.sizes.length, params.sizes.width).template cast<T>();
    for (Extent n = 0; n < cache.x.rows(); ++n) {
      const auto row = params.embedding.weight.row(cache.tokens(n / length, n % length));
      if constexpr (S.positions == Positions::learned)
        cache.x.row(n) = row + params.positions.weight.row(n % length);
      else if constexpr (S.positions == Positions::sinusoidal)
        cache.x.row(n) = row + cache.sinusoids.row(n % length);
      else
        cache.x.row(n) = row;
    }
  }
  static void require_same_sizes(const Params& params, const Params& grad) {
    const auto& p = params.sizes;
    const auto& g = grad.sizes;
    require_size("grad.vocab", g.vocab, p.vocab);
    require_size("grad.width", g.width, p.width);
    require_size("grad.layers", g.layers, p.layers);
    require_size("grad.heads", g.heads, p.heads);
    require_size("grad.key", g.key, p.key);
    require_size("grad.hidden", g.hidden, p.hidden);
    require_size("grad.length", g.length, p.length);
    require(grad.embedding.weight.data() != nullptr && params.embedding.weight.data() != nullptr, "parameters",
            "a bundle without memory", "bundles seated by Owned");
  }
  /// body(first sequence, logits, which it may overwrite) for chunks of sequences.
  template <class Body>
  void for_each_chunk(const Params& params, In<Mat<Id>> tokens, Workspace& ws, Body&& body) const {
    const Extent size = ws.chunk((std::max)(tokens.cols(), Extent(1)));
    for (Extent row = 0; row < tokens.rows(); row += size) {
      forward(params, tokens.middleRows(row, (std::min)(size, tokens.rows() - row)), ws.cache_);
      body(row, ws.cache_.logits);
    }
  }
};

/// The one-layer transformer of paper A: no norm, no positions, no biases, label space of width C.
inline constexpr DecoderConfig definition_2{.block = {.place = nn::NormPlace::none, .bias = false},
                                            .positions = Positions::none,
                                            .head = Head::none,
                                            .final_norm = false,
                                            .output = Output::last,
                                            .sizes = {.layers = 1, .heads = 1}};

/// @brief Definition 2 of paper A: \f$ v = a X W_V W_O + x_L,\; f(X) = \mathrm{act}(v W_{f1}) W_{f2} + v \f$, with a the last
/// row of Attn(X) and \f$ x_L \f$ the last row of X. The output is v's width, so labels lie in [0, C) and C >= D.
template <Real T, nn::ActivationFunction A = nn::Tanh>
using OneLayerTransformer = Decoder<T, definition_2, A>;

/// The model of paper A's experiments: 2 layers, 1 head, post-norm, learned positions, no biases, feed-forward with ReLU.
inline constexpr DecoderConfig paper_transformer{.block = {.place = nn::NormPlace::post, .bias = false},
                                                 .final_norm = false,
                                                 .sizes = {.layers = 2, .heads = 1}};

static_assert(ParameterBundle<typename Decoder<double>::Params>);

}  // namespace incipit::inline INCIPIT_ABI::model

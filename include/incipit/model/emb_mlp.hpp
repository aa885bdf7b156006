// SPDX-License-Identifier: MIT
/// @file
/// @brief Emb-MLP (Definition 1 of paper A): summed embeddings, one hidden layer, logits.
#pragma once

#include <incipit/loss/cross_entropy.hpp>
#include <incipit/loss/label_rows.hpp>
#include <incipit/nn/activation.hpp>
#include <incipit/nn/embedding.hpp>
#include <incipit/nn/linear.hpp>

namespace incipit::inline INCIPIT_ABI::model {

/// Sizes of an Emb-MLP; each is a constant or `dyn`.
struct EmbMlpSizes {
  Extent vocab = dyn;   ///< D, vocabulary and label space
  Extent width = dyn;   ///< m, embedding width
  Extent hidden = dyn;  ///< f, hidden width
};

/// @brief Emb-MLP, G(X) = act((sum_{x in X} w_x) W1) W2.
/// @par Shapes   tokens: (N, L) ids; x: (N, m); h, y: (N, f); logits z: (N, D). N and L free, D, m, f static or `dyn`.
/// @par Forward  \f$ x_n = \sum_l w_{t_{nl}},\quad h = x W_1,\quad y = \mathrm{act}(h),\quad z = y W_2 \f$
/// @par Backward \f$ dW_2 \mathrel{+}= y^T dz,\; dh = (dz\,W_2^T) \odot \mathrm{act}'(h),\; dW_1 \mathrel{+}= x^T dh,\;
///               dx = dh\,W_1^T,\; dw_s \mathrel{+}= \sum_{n,l} [t_{nl} = s]\, dx_n \f$
/// @details `forward` and `backward` are these formulas, literally. `loss_and_gradient` is the same mathematics for
/// training, in row chunks that stay in cache, without allocation after the first call. Since the first map is linear,
/// it multiplies the vocabulary instead of the samples whenever D <= N: with the table \f$ E = W_E W_1 \f$ (D, f),
/// \f$ h_n = \sum_l E_{t_{nl}} \f$, and backward scatters dh into dE first: \f$ dW_E = dE\,W_1^T,\; dW_1 = W_E^T dE \f$.
/// @par Source   paper A, Definition 1.  @par Cost 6 N f D + 6 min(N, D) m f FLOPs a step.
/// @par Checked  tests/model/emb_mlp_test.cpp
template <Real T, EmbMlpSizes S = EmbMlpSizes{}, nn::ActivationFunction A = nn::Tanh>
struct EmbMlp {
  using Scalar = T;        ///< scalar type
  using ActivationType = A;  ///< the activation

  /// The three matrices; also the type of the gradient.
  struct Params {
    using Scalar = T;                    ///< scalar type
    Slot<T, S.vocab, S.width> embedding;   ///< W_E, (D, m)
    Slot<T, S.width, S.hidden> hidden;     ///< W_1, (m, f)
    Slot<T, S.hidden, S.vocab> output;     ///< W_2, (f, D)
    /// @brief Sizes D, m, f, without memory until Owned seats it. @throws ShapeError for sizes below 1 or unlike static ones.
    Params(Extent vocab, Extent width, Extent hidden_width)
        : embedding(nullptr, checked("vocab", S.vocab, vocab), checked("width", S.width, width)),
          hidden(nullptr, width, checked("hidden", S.hidden, hidden_width)),
          output(nullptr, hidden_width, vocab) {}
    /// The static sizes.
    Params()
      requires(S.vocab != dyn && S.width != dyn && S.hidden != dyn)
        : Params(S.vocab, S.width, S.hidden) {}
    /// visitor(name, slot) for "embedding.weight", "hidden.weight", "output.weight".
    template <class F> void for_each_parameter(F&& f) { visit(*this, f); }
    /// visitor(name, slot) for "embedding.weight", "hidden.weight", "output.weight".
    template <class F> void for_each_parameter(F&& f) const { visit(*this, f); }

   private:
    template <class Self, class F>
    static void visit(Self& self, F& f) {
      f("embedding.weight", self.embedding);
      f("hidden.weight", self.hidden);
      f("output.weight", self.output);
    }
    static Extent checked(std::string_view name, Extent declared, Extent n) {
      require<ShapeError>(n >= 1 && fits(declared, n), name, n, declared == dyn ? "at least 1" : "the static size");
      return n;
    }
  };
  using Parameters = Owned<Params>;  ///< parameters with their memory; gradients too

  /// What forward keeps for backward.
  struct Cache {
    typename nn::Embedding<T, S.vocab, S.width>::Cache embedding;   ///< ids, x
    Mat<T> h;                                                       ///< (N, f) before the activation
    Mat<T> y;                                                       ///< (N, f) after it
    Mat<T> logits;                                                  ///< (N, D)
    mutable Mat<T> dh, dx;                                          ///< scratch of backward
    mutable GemmWorkspace<T> workspace;                             ///< scratch of the products
  };

  /// Buffers of loss_and_gradient; grow once.
  class Workspace {
   public:
    /// Rows per chunk; 0 chooses them so that a chunk's activations and logits fill about half a megabyte.
    explicit Workspace(Extent chunk_rows = 0) : wanted_(chunk_rows) {
      require(chunk_rows >= 0, "chunk_rows", chunk_rows, "0 (automatic) or a positive number of rows");
    }

   private:
    friend struct EmbMlp;
    void prepare(const Params& params, Extent rows, bool table_path) {
      const Extent d = params.output.cols(), f = params.output.rows(), m = params.hidden.rows();
      chunk = wanted_ ? wanted_ : (std::clamp)(Extent(524288) / static_cast<Extent>(sizeof(T)) / (2 * f + d), Extent(32), Extent(512));
      chunk = (std::min)(chunk, (std::max)(rows, Extent(1)));
      grow(logits, chunk, padded<T>(d));
      grow(y, chunk, f);
      grow(dh, chunk, f);
      if (!A::from_output) grow(h, chunk, f);
      if (table_path) {
        grow(table, d, f);
        grow(dtable, d, f);
      } else {
        grow(x, chunk, m);
        grow(dx, chunk, m);
      }
    }
    // A smaller last batch must not shrink what the next full one needs.
    static void grow(Mat<T>& buffer, Extent rows, Extent cols) {
      if (buffer.rows() < rows || buffer.cols() != cols) buffer.resize(rows, cols);
    }
    Extent wanted_, chunk = 0;
    Mat<T> table, dtable, x, dx, h, y, dh, logits;
    PackedB<T> output, output_transposed, hidden, hidden_transposed;
    GemmWorkspace<T> gemm;
  };

  /// logits of each row of tokens, by the literal formulas. @throws IndexError for an id outside [0, D).
  const Mat<T>& forward(const Params& params, In<Mat<Id>> tokens, Cache& cache) const {
    typename nn::Embedding<T, S.vocab, S.width>::Params table(params.embedding.rows(), params.embedding.cols());
    new (&table.weight) Slot<T, S.vocab, S.width>(params.embedding);
    nn::Embedding<T, S.vocab, S.width>{}.forward(table, tokens, cache.embedding);
    cache.h.resize(tokens.rows(), params.hidden.cols());
    cache.logits.resize(tokens.rows(), params.output.cols());
    product(cache.embedding.y, params.hidden, cache.h, Accumulate::no, cache.workspace);
    cache.y = cache.h;
    nn::activate<A>(cache.y.data(), cache.y.size());
    product(cache.y, params.output, cache.logits, Accumulate::no, cache.workspace);
    return cache.logits;
  }

  /// Adds the gradient of sum(dlogits * logits) of the last forward pass to grad, by the literal formulas.
  void backward(const Params& params, const Cache& cache, In<Mat<T>> dlogits, Params& grad) const {
    require_size("dlogits.rows", dlogits.rows(), cache.logits.rows());
    require_size("dlogits.cols", dlogits.cols(), cache.logits.cols());
    require_same_sizes(params, grad);
    cache.dh.resize(cache.h.rows(), cache.h.cols());
    cache.dx.resize(cache.h.rows(), params.hidden.rows());
    product_tn(cache.y, dlogits, grad.output, Accumulate::yes, cache.workspace);
    product_nt(dlogits, params.output, cache.dh, Accumulate::no, cache.workspace);
    nn::activation_backward<A>(cache.h.data(), cache.y.data(), cache.dh.data(), cache.dh.data(), cache.dh.size());
    product_tn(cache.embedding.y, cache.dh, grad.hidden, Accumulate::yes, cache.workspace);
    product_nt(cache.dh, params.hidden, cache.dx, Accumulate::no, cache.workspace);
    nn::scatter_add<T>(cache.embedding.ids, cache.dx, grad.embedding);
  }

  /// @brief Cross entropy of the rows of tokens against labels, and its gradient added to grad.
  /// @par Shapes tokens: (N, L); labels: N rows.
  /// @throws IndexError, ShapeError; NonFiniteError when the loss is not finite (grad is then unusable).
  T loss_and_gradient(const Params& params, In<Mat<Id>> tokens, const loss::LabelRows<T>& labels, Workspace& ws,
                      Params& grad) const {
    require_size("labels.rows", labels.rows(), tokens.rows());
    labels.require_labels(params.output.cols());
    require_same_sizes(params, grad);
    const bool table_path = begin(params, tokens, ws);
    ws.output_transposed.pack_transposed(params.output);
    if (table_path)
      ws.dtable.setZero();
    else
      ws.hidden_transposed.pack_transposed(params.hidden);
    loss::LossSum<T> total(0);
    for (Extent row = 0; row < tokens.rows(); row += ws.chunk) {
      const Extent rows = (std::min)(ws.chunk, tokens.rows() - row);
      In<Mat<Id>> ids = tokens.middleRows(row, rows);
      forward_chunk(params, ids, table_path, ws);
      for (Extent n = 0; n < rows; ++n) total += loss::label_row(&ws.logits(n, 0), params.output.cols(), labels, row + n);
      backward_chunk(ids, table_path, ws, grad);
    }
    if (table_path) {
      product_nt(ws.dtable.topRows(grad.embedding.rows()), params.hidden, grad.embedding, Accumulate::yes, ws.gemm);
      product_tn(params.embedding, ws.dtable.topRows(grad.embedding.rows()), grad.hidden, Accumulate::yes, ws.gemm);
    }
    if (!is_finite(T(total))) [[unlikely]]
      fail<NonFiniteError>("loss", T(total), "a finite number");
    return T(total);
  }

  /// @brief Calls visit(n, logits of row n, a (1, D) map) for every row of tokens, in order, in cache-sized chunks.
  /// @throws IndexError for an id outside [0, D).
  template <class Visit>
  void for_each_logits(const Params& params, In<Mat<Id>> tokens, Workspace& ws, Visit&& visit) const {
    const bool table_path = begin(params, tokens, ws);
    for (Extent row = 0; row < tokens.rows(); row += ws.chunk) {
      const Extent rows = (std::min)(ws.chunk, tokens.rows() - row);
      forward_chunk(params, tokens.middleRows(row, rows), table_path, ws);
      for (Extent n = 0; n < rows; ++n)
        visit(row + n, Eigen::Map<const Row<T>>(&ws.logits(n, 0), params.output.cols()));
    }
  }

 private:
  static void require_same_sizes(const Params& params, const Params& grad) {
    require_size("grad.embedding.rows", grad.embedding.rows(), params.embedding.rows());
    require_size("grad.embedding.cols", grad.embedding.cols(), params.embedding.cols());
    require_size("grad.hidden.cols", grad.hidden.cols(), params.hidden.cols());
    require(grad.embedding.data() != nullptr && params.embedding.data() != nullptr, "parameters", "a bundle without memory",
            "bundles seated by Owned");
  }

  // Checks the ids, sizes the buffers and prepares what every chunk multiplies by; true if the table path is taken.
  static bool begin(const Params& params, In<Mat<Id>> tokens, Workspace& ws) {
    nn::require_ids(tokens, params.embedding.rows());
    const bool table_path = params.embedding.rows() <= tokens.rows();
    ws.prepare(params, tokens.rows(), table_path);
    ws.output.pack(params.output);
    if (table_path)
      product(params.embedding, params.hidden, ws.table.topRows(params.embedding.rows()), Accumulate::no, ws.gemm);
    else
      ws.hidden.pack(params.hidden);
    return table_path;
  }

  static void forward_chunk(const Params& params, In<Mat<Id>> ids, bool table_path, Workspace& ws) {
    const Extent rows = ids.rows();
    if (table_path) {
      nn::gather_sum<T>(ws.table, ids, ws.y.topRows(rows));
    } else {
      nn::gather_sum<T>(params.embedding, ids, ws.x.topRows(rows));
      product(ws.x.topRows(rows), ws.hidden, ws.y.topRows(rows), Accumulate::no, ws.gemm);
    }
    if constexpr (!A::from_output) ws.h.topRows(rows) = ws.y.topRows(rows);
    nn::activate<A>(ws.y.data(), rows * ws.y.cols());
    product(ws.y.topRows(rows), ws.output, ws.logits.topLeftCorner(rows, params.output.cols()), Accumulate::no, ws.gemm);
  }

  // ws.logits holds the gradient of the logits.
  static void backward_chunk(In<Mat<Id>> ids, bool table_path, Workspace& ws, Params& grad) {
    const Extent rows = ids.rows();
    const auto dlogits = ws.logits.topLeftCorner(rows, grad.output.cols());
    product_tn(ws.y.topRows(rows), dlogits, grad.output, Accumulate::yes, ws.gemm);
    product(dlogits, ws.output_transposed, ws.dh.topRows(rows), Accumulate::no, ws.gemm);
    nn::activation_backward<A>(ws.h.data(), ws.y.data(), ws.dh.data(), ws.dh.data(), rows * ws.dh.cols());
    if (table_path) return nn::scatter_add<T>(ids, ws.dh.topRows(rows), ws.dtable);
    product_tn(ws.x.topRows(rows), ws.dh.topRows(rows), grad.hidden, Accumulate::yes, ws.gemm);
    product(ws.dh.topRows(rows), ws.hidden_transposed, ws.dx.topRows(rows), Accumulate::no, ws.gemm);
    nn::scatter_add<T>(ids, ws.dx.topRows(rows), grad.embedding);
  }
};

static_assert(ParameterBundle<typename EmbMlp<double>::Params>);

}  // namespace incipit::inline INCIPIT_ABI::model

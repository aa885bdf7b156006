// SPDX-License-Identifier: MIT
// U43: public functions that give matrices give plain containers (or references to them), never an expression that
// could outlive its operands; also when their arguments are expressions. Compiling this file is the test.
#include <incipit/core/numerics.hpp>
#include <incipit/linalg/pca.hpp>
#include <incipit/linalg/singular_values.hpp>
#include <incipit/linalg/symmetric_eigen.hpp>
#include <incipit/linalg/thin_qr.hpp>
#include <incipit/measure/cosine.hpp>
#include <incipit/model/emb_mlp.hpp>
#include <incipit/nn/linear.hpp>
#include <incipit/theory/arcsine_law.hpp>
#include <incipit/theory/label_law.hpp>
#include <incipit/theory/memory_law.hpp>
#include <incipit/theory/three_layer_flow.hpp>

using namespace incipit;

namespace return_types {

template <class T>
inline constexpr bool plain = std::is_arithmetic_v<T> || std::is_enum_v<T>;
template <class T, int R, int C, int O>
inline constexpr bool plain<Eigen::Matrix<T, R, C, O>> = true;

template <auto Member>
struct MemberOf;
template <class S, class M, M S::*Member>
struct MemberOf<Member> {
  static constexpr bool is_plain = plain<M>;
};
template <auto... Members>
inline constexpr bool all_plain = (MemberOf<Members>::is_plain && ...);

// What a call returns: by value it is plain, by reference it refers to something plain that an argument owns.
template <class T>
inline constexpr bool safe = plain<std::remove_cvref_t<T>>;

using M = Mat<double>;
using Sum = decltype(std::declval<M>() + std::declval<M>().transpose());
const Sum& sum();

static_assert(!plain<Sum> && !safe<Eigen::Transpose<M>>, "the trait sees expressions");

static_assert(safe<decltype(softmax(sum()))> && safe<decltype(log_softmax(sum()))>);
static_assert(safe<decltype(log_sum_exp_rows(sum()))> && safe<decltype(log_sum_exp(sum().row(0)))>);
static_assert(safe<decltype(softmax_backward(sum(), sum()))> && safe<decltype(log_softmax_backward(sum(), sum()))>);

static_assert(safe<decltype(linalg::singular_values(sum()))>);
static_assert(all_plain<&linalg::Pca<double>::components, &linalg::Pca<double>::scores, &linalg::Pca<double>::mean,
                        &linalg::SymmetricEigen<double>::values, &linalg::SymmetricEigen<double>::vectors,
                        &linalg::ThinQr<double>::q, &linalg::ThinQr<double>::r>);
static_assert(safe<decltype(measure::off_diagonal(sum()))>);

using Linear = nn::Linear<double>;
static_assert(safe<decltype(std::declval<Linear>().forward(std::declval<const Linear::Params&>(), sum(),
                                                           std::declval<Linear::Cache&>()))>);
using Model = model::EmbMlp<double>;
static_assert(safe<decltype(std::declval<Model>().forward(std::declval<const Model::Params&>(),
                                                          std::declval<const Mat<Id>&>(),
                                                          std::declval<Model::Cache&>()))>);

static_assert(safe<decltype(theory::reasoning_label_law(std::declval<data::AnchorTask>()))>);
static_assert(safe<decltype(theory::memory_label_law(std::declval<data::AnchorTask>()))>);
static_assert(safe<decltype(theory::key_label_law(std::declval<data::AnchorTask>(), Id{21}))>);
static_assert(safe<decltype(theory::label_cosines(sum()))>);
static_assert(safe<decltype(std::declval<theory::IntegerLaw>().over_labels(Extent{3}))>);
static_assert(safe<decltype(std::declval<theory::ArcsineLaw>().cosines())>);
static_assert(all_plain<&theory::LayerMatrices::embedding, &theory::LayerMatrices::hidden, &theory::LayerMatrices::output>);
static_assert(std::is_same_v<decltype(std::declval<theory::Proposition1>().velocity(std::declval<theory::LayerMatrices>())),
                             theory::LayerMatrices>);
static_assert(std::is_same_v<decltype(std::declval<theory::ThreeLayerFlow>().at(FlowTime{1})), theory::LayerMatrices>);

}  // namespace return_types

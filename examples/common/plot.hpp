// SPDX-License-Identifier: MIT
/// @file
/// @brief Figures as gnuplot scripts with their data: curves, points, bands, levels and heat maps.
#pragma once

#include <incipit/core/matrix.hpp>
#include <incipit/io/text.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <limits>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace examples {

/// How a series is drawn.
enum class Style { line, dashed, points, line_points };

/// One axis of a figure.
struct Axis {
  std::string label;                          ///< text beside it
  bool log = false;                           ///< logarithmic
  std::optional<double> low = {}, high = {};  ///< ends; what is missing follows the data
};

/// @brief One curve or cloud of points.
struct Series {
  std::string label;          ///< in the legend; empty: not listed
  std::vector<double> x, y;   ///< equally many; a NaN leaves a gap
  Style style = Style::line;  ///< how it is drawn
  int color = -1;  ///< index of the colour; -1: the next unused one. Give prediction and measurement the same
  std::vector<double> low = {}, high = {};  ///< optional band around it, as long as x
};

/// A horizontal reference line.
struct Level {
  std::string label;  ///< in the legend
  double y;           ///< where
  int color = -1;     ///< index of the colour; -1: grey
};

/// Curves and points over common axes.
struct Figure {
  std::string title;                ///< above the figure
  Axis x, y;                        ///< axes
  std::vector<Series> series = {};  ///< drawn in this order
  std::vector<Level> levels = {};   ///< reference lines
};

/// Matrices side by side on one colour scale.
struct HeatMaps {
  /// One matrix.
  struct Panel {
    std::string title;            ///< above it
    incipit::Mat<double> values;  ///< (rows, columns), row 0 on top
  };
  std::string title;               ///< above all
  std::string label;               ///< of rows and columns
  std::vector<Panel> panels = {};  ///< from left to right
  int first = 0;                   ///< number of row and column 0
  double low = -1, high = 1;       ///< ends of the colour scale; a scale through 0 is blue - white - red
};

namespace detail {

constexpr std::array<const char*, 8> colors{"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                            "#e69f00", "#56b4e9", "#7f3c8d", "#4d4d4d"};

/// A gnuplot string literal: single quotes know no escapes but the doubled quote.
inline std::string literal(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'')
      out += "''";
    else
      out += static_cast<unsigned char>(c) < 0x20U ? ' ' : c;
  }
  return out + "'";
}

/// A number as gnuplot reads it: never an integer (these divide as such), "NaN" when not finite.
inline std::string number(double x) {
  if (!std::isfinite(x)) return "NaN";
  std::ostringstream out;
  out.precision(17);
  out << std::scientific << x;
  return std::move(out).str();
}

inline std::string color(int index) { return colors[static_cast<std::size_t>(index) % colors.size()]; }

inline void require_stem(const std::string& stem) {
  const bool plain = !stem.empty() && std::all_of(stem.begin(), stem.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
  incipit::require(plain, "name of a plot", stem, "letters, digits and _");
}

inline std::string axis(char name, const Axis& a) {
  const std::string n(1, name);
  std::string out = "set " + n + "label " + literal(a.label) + "\n";
  if (a.log) out += "set logscale " + n + "\nset format " + n + " '%g'\n";
  out += "set " + n + "range [" + (a.low ? number(*a.low) : "*") + ":" + (a.high ? number(*a.high) : "*") + "]\n";
  return out;
}

/// Draws `body` twice, as SVG and as PNG, at `width` x `height`.
inline std::string both_formats(const std::string& stem, int width, int height, const std::string& body) {
  const std::string w = std::to_string(width), h = std::to_string(height);
  return "# Draw again with: gnuplot " + stem +
         ".gp\nset encoding utf8\nset datafile missing 'NaN'\ndo for [kind in 'svg png'] {\n" +
         "if (kind eq 'svg') {\nset terminal svg noenhanced size " + w + "," + h +
         " font 'DejaVu Sans,Arial,sans-serif,14' background '#ffffff' linewidth 1.2\n} else {\n" +
         "set terminal pngcairo noenhanced size " + w + "," + h +
         " font 'DejaVu Sans,11' background '#ffffff' linewidth 1.2\n}\nset output '" + stem + ".'.kind\n" + body +
         "unset output\n}\n";
}

}  // namespace detail

/// @brief Script (STEM.gp) and data (STEM.dat) of a plot.
struct PlotFiles {
  std::string script, data;
};

/// @brief Script and data of a figure.
/// @throws InvalidArgument for a stem with other characters than letters, digits and _; ShapeError for unequal lengths.
inline PlotFiles plot_files(const std::string& stem, const Figure& figure) {
  detail::require_stem(stem);
  std::string data, clauses;
  const auto add = [&clauses](const std::string& clause) { clauses += (clauses.empty() ? "" : ", \\\n  ") + clause; };
  int next_color = 0, block = 0;
  for (const Series& s : figure.series) {
    incipit::require_size("y of " + s.label, s.y.size(), s.x.size());
    const bool band = !s.low.empty() || !s.high.empty();
    if (band) {
      incipit::require_size("low of " + s.label, s.low.size(), s.x.size());
      incipit::require_size("high of " + s.label, s.high.size(), s.x.size());
    }
    const std::string color = detail::color(s.color >= 0 ? s.color : next_color++);
    if (s.x.empty()) continue;
    data += "# " + detail::literal(s.label) + (band ? ": x y low high\n" : ": x y\n");
    for (std::size_t i = 0; i < s.x.size(); ++i) {
      data += detail::number(s.x[i]) + ' ' + detail::number(s.y[i]);
      if (band) data += ' ' + detail::number(s.low[i]) + ' ' + detail::number(s.high[i]);
      data += '\n';
    }
    data += "\n\n";
    const std::string from = "'" + stem + ".dat' index " + std::to_string(block++);
    if (band)
      add(from + " using 1:3:4 with filledcurves fs transparent solid 0.18 noborder lc rgb '" + color + "' notitle");
    const std::string look = s.style == Style::points        ? "points pt 7 ps 0.7"
                             : s.style == Style::line_points ? "linespoints pt 7 ps 0.6 lw 1.6"
                             : s.style == Style::dashed      ? "lines dt (8,5) lw 2"
                                                             : "lines lw 2";
    add(from + " using 1:2 with " + look + " lc rgb '" + color + "' " +
        (s.label.empty() ? "notitle" : "title " + detail::literal(s.label)));
  }
  constexpr std::array<const char*, 4> dashes{"(3,4)", "(12,5)", "(12,5,3,5)", "(1,3)"};
  std::size_t next_dash = 0;
  for (const Level& level : figure.levels)
    if (std::isfinite(level.y))
      add(detail::number(level.y) + " with lines dt " + dashes[next_dash++ % dashes.size()] + " lw 1.6 lc rgb '" +
          (level.color >= 0 ? detail::color(level.color) : "#666666") + "' title " + detail::literal(level.label));
  const std::string body =
      "set title " + detail::literal(figure.title) + "\n" + detail::axis('x', figure.x) + detail::axis('y', figure.y) +
      "set border 3 lc rgb '#444444'\nset tics nomirror out\nset grid lc rgb '#e4e4e4' lw 0.8 lt 1\n"
      "set key outside below center horizontal Left reverse samplen 2.5 spacing 1.25 height 1\n" +
      (clauses.empty() ? "" : "plot " + clauses + "\n");
  return {detail::both_formats(stem, 900, 600, body), std::move(data)};
}

/// @brief Script and data of heat maps. @throws InvalidArgument for a bad stem or an empty colour scale.
inline PlotFiles plot_files(const std::string& stem, const HeatMaps& maps) {
  detail::require_stem(stem);
  incipit::require(maps.low < maps.high, "low", maps.low, "below high");
  const bool through_zero = maps.low < 0 && maps.high > 0;
  std::string data, panels;
  int block = 0;
  for (const HeatMaps::Panel& panel : maps.panels) {
    if (panel.values.size() == 0) continue;
    data += "# " + detail::literal(panel.title) + "\n";
    for (incipit::Extent i = 0; i < panel.values.rows(); ++i) {
      for (incipit::Extent j = 0; j < panel.values.cols(); ++j)
        data.append(j ? " " : "").append(detail::number(panel.values(i, j)));
      data += '\n';
    }
    data += "\n\n";
    const std::string from = std::to_string(maps.first);
    const std::string low = detail::number(maps.first - 0.5);
    const auto high = [&](incipit::Extent n) { return detail::number(maps.first - 0.5 + static_cast<double>(n)); };
    panels += "set title " + detail::literal(panel.title) + "\nset xrange [" + low + ":" + high(panel.values.cols()) +
              "]\nset yrange [" + high(panel.values.rows()) + ":" + low + "]\nplot '" + stem + ".dat' index " +
              std::to_string(block) + " matrix using ($1+" + from + "):($2+" + from +
              "):3 with image notitle\nunset colorbox\n";
    ++block;
  }
  const int count = (std::max)(block, 1), width = 110 + 400 * count;
  const std::string right = detail::number(1 - 90.0 / width), bar = detail::number(1 - 75.0 / width);
  const std::string body =
      "set multiplot layout 1," + std::to_string(count) + " title " + detail::literal(maps.title) + " margins " +
      detail::number(60.0 / width) + "," + right + ",0.13,0.80 spacing " + detail::number(60.0 / width) + "\n" +
      (through_zero ? "set palette defined (-1 '#2166ac', -0.5 '#92c5de', 0 '#f7f7f7', 0.5 '#f4a582', 1 '#b2182b')\n"
                    : "set palette defined (0 '#440154', 1 '#3b528b', 2 '#21918c', 3 '#5ec962', 4 '#fde725')\n") +
      "set cbrange [" + detail::number(maps.low) + ":" + detail::number(maps.high) + "]\n" +
      "set colorbox user origin " + bar + ",0.13 size " + detail::number(16.0 / width) +
      ",0.67\nset size square\nunset key\n" + "set border lc rgb '#444444'\nset tics out nomirror\nset xlabel " +
      detail::literal(maps.label) + "\n" + panels + "unset multiplot\n";
  return {detail::both_formats(stem, width, 500, body), std::move(data)};
}

}  // namespace examples

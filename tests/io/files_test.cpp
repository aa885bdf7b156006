// SPDX-License-Identifier: MIT
#include <incipit/io/csv.hpp>
#include <incipit/io/npy.hpp>
#include <incipit/io/text.hpp>

#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <limits>

using namespace incipit;
namespace fs = std::filesystem;

namespace {

/// A folder of its own that goes with the test.
struct Folder {
  Folder() : path(fs::temp_directory_path() / "incipit files, 'quoted'") {
    fs::remove_all(path);
    fs::create_directory(path);
  }
  ~Folder() { fs::remove_all(path); }
  fs::path path;
};

std::string with_header(std::string_view dict, std::string_view data = "") {
  std::string out = "\x93NUMPY";
  out += {'\x01', '\x00', static_cast<char>(dict.size() & 0xffU), static_cast<char>(dict.size() >> 8U)};
  return out.append(dict).append(data);
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(io_files, Folder)

BOOST_AUTO_TEST_CASE(text_is_written_as_a_whole_and_read_back_byte_by_byte) {
  const std::string bytes("a\0\r\n\xff", 5);
  io::write_file(path / "f", bytes);
  BOOST_TEST(io::read_file(path / "f") == bytes);
  io::write_file(path / "f", "shorter");
  BOOST_TEST(io::read_file(path / "f") == "shorter");
  io::write_file(path / "empty", "");
  BOOST_TEST(io::read_file(path / "empty").empty());
  BOOST_TEST(std::distance(fs::directory_iterator(path), fs::directory_iterator()) == 2);
}

BOOST_AUTO_TEST_CASE(files_that_cannot_be_read_or_written_are_named) {
  const auto names = [&](const fs::path& p) { return [&, p](const IoError& e) { return e.argument() == p.string(); }; };
  BOOST_CHECK_EXCEPTION(io::read_file(path / "none"), IoError, names(path / "none"));
  BOOST_CHECK_EXCEPTION(io::read_file(path), IoError, names(path));
  io::write_file(path / "f", "12345");
  BOOST_CHECK_EXCEPTION(io::read_file(path / "f", 4), IoError, names(path / "f"));
  BOOST_TEST(io::read_file(path / "f", 5).size() == 5U);
  BOOST_CHECK_EXCEPTION(io::write_file(path / "no" / "f", "x"), IoError, names(path / "no" / "f"));
  fs::create_directory(path / "full");
  io::write_file(path / "full" / "child", "x");
  BOOST_CHECK_EXCEPTION(io::write_file(path / "full", "x"), IoError, names(path / "full"));
  BOOST_TEST(!fs::exists(path / "full.part"));
}

BOOST_AUTO_TEST_CASE(csv_quotes_by_rfc_4180_and_numbers_round_trip) {
  io::CsvTable table({"name", "a,b", "say \"x\""});
  table.add("two\nlines", 0.1, -3);
  table.add(std::string("plain"), 1e-300, 1.0F / 3);
  table.add("", std::numeric_limits<double>::quiet_NaN(), -std::numeric_limits<double>::infinity());
  table.add_row(std::vector<double>{1, 2.5, 1e300});
  BOOST_TEST(table.text() ==
             "name,\"a,b\",\"say "
             "\"\"x\"\"\"\r\n\"two\nlines\",0.1,-3\r\nplain,1e-300,0.33333334\r\n,nan,-inf\r\n1,2.5,1e+300\r\n");
  BOOST_CHECK_THROW(table.add("too few"), ShapeError);
  BOOST_CHECK_THROW(table.add_row(std::vector<int>(4)), ShapeError);
  BOOST_CHECK_THROW(io::CsvTable({}), InvalidArgument);
  table.save(path / "t.csv");
  BOOST_TEST(io::read_file(path / "t.csv") == table.text());
  BOOST_TEST(io::full_precision(-std::numeric_limits<double>::quiet_NaN()) == "nan");
  for (const double x : {1.0 / 3, 5e-324, (std::numeric_limits<double>::max)(), 123456789.125})
    BOOST_TEST(std::strtod(io::full_precision(x).c_str(), nullptr) == x);
}

BOOST_AUTO_TEST_CASE(npy_bytes_are_those_of_the_format) {
  Mat<double> m(2, 3);
  m << 1, 2, 3, 4, 5, 6;
  io::save_npy(path / "m.npy", m);
  const std::string bytes = io::read_file(path / "m.npy");
  BOOST_TEST(bytes.size() == 128U + 48U);
  BOOST_TEST(bytes.substr(0, 10) == std::string("\x93NUMPY\x01\x00\x76\x00", 10));
  BOOST_TEST(bytes.substr(10, 59) == "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }");
  BOOST_TEST(bytes[127] == '\n');
  double fourth = 0;
  std::memcpy(&fourth, bytes.data() + 128 + 24, 8);
  BOOST_TEST(fourth == 4);
  io::save_npy(path / "v.npy", Row<float, 2>(1, 2));
  BOOST_TEST(io::read_file(path / "v.npy").find("'<f4', 'fortran_order': False, 'shape': (2,), }") !=
             std::string::npos);
}

BOOST_AUTO_TEST_CASE(npy_round_trips_every_type_and_rank) {
  const std::vector<std::int64_t> whole{-1, std::numeric_limits<std::int64_t>::max(), 0};
  io::save_npy<std::int64_t>(path / "i.npy", whole, std::vector<std::size_t>{3});
  BOOST_TEST((io::load_npy<std::int64_t>(path / "i.npy").values == whole));
  const std::vector<std::uint8_t> small{0, 255};
  io::save_npy<std::uint8_t>(path / "u.npy", small, std::vector<std::size_t>{1, 2, 1});
  const auto back = io::load_npy<std::uint8_t>(path / "u.npy");
  BOOST_TEST((back.values == small));
  BOOST_TEST((back.shape == std::vector<std::size_t>{1, 2, 1}));
  io::save_npy<double>(path / "0.npy", std::vector<double>{2.5}, {});
  BOOST_TEST(io::load_npy<double>(path / "0.npy").matrix()(0, 0) == 2.5);
  io::save_npy(path / "e.npy", Mat<double>(0, 3));
  BOOST_TEST((io::load_npy<double>(path / "e.npy").shape == std::vector<std::size_t>{0, 3}));
  Mat<float> wide(2, 2);
  wide << 1, 2, 3, 4;
  io::save_npy(path / "t.npy", wide.transpose());
  BOOST_TEST(io::load_npy<float>(path / "t.npy").matrix()(0, 1) == 3.0F);
  BOOST_CHECK_THROW(io::save_npy<double>(path / "x.npy", std::vector<double>(5), std::vector<std::size_t>{2, 3}),
                    ShapeError);
}

BOOST_AUTO_TEST_CASE(npy_headers_of_other_writers_are_read) {
  const std::string eight(8, '\0');
  for (const std::string_view dict : {"{'shape':(1,1),\"fortran_order\":False,'descr':'<f8'}",
                                      "{ 'descr' : '<f8' , 'fortran_order' : False, 'shape': ( 1 , ) , }   \n"}) {
    io::write_file(path / "f.npy", with_header(dict, eight));
    BOOST_TEST(io::load_npy<double>(path / "f.npy").values.size() == 1U);
  }
  std::string second = "\x93NUMPY";
  const std::string dict = "{'descr': '<f8', 'fortran_order': False, 'shape': (1,), }";
  second += {'\x02', '\x00', static_cast<char>(dict.size()), '\x00', '\x00', '\x00'};
  io::write_file(path / "f.npy", second + dict + eight);
  BOOST_TEST(io::load_npy<double>(path / "f.npy").values.size() == 1U);
}

BOOST_AUTO_TEST_CASE(hostile_npy_files_are_refused_with_their_name) {
  const std::string good = "{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }", data(16, 'x');
  std::vector<std::string> hostile{
      "",
      "x",
      std::string("\x93NUMPY\x01\x00", 8),
      "not an array at all, but long enough",
      with_header(good, data.substr(1)),
      with_header(good, data + "x"),
      with_header("", data),
      with_header("{'descr': '<f4', 'fortran_order': False, 'shape': (4,), }", data),
      with_header("{'descr': '>f8', 'fortran_order': False, 'shape': (2,), }", data),
      with_header("{'descr': '|O', 'fortran_order': False, 'shape': (2,), }", data),
      with_header("{'descr': '<f8', 'fortran_order': True, 'shape': (2,), }", data),
      with_header("{'descr': '<f8', 'fortran_order': Maybe, 'shape': (2,), }", data),
      with_header("{'descr': '<f8', 'fortran_order': False, 'shape': (-2,), }", data),
      with_header("{'descr': '<f8', 'fortran_order': False, 'shape': (2 2), }", data),
      with_header("{'descr': '<f8', 'fortran_order': False, 'shape': 2, }", data),
      with_header("{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999999999999,), }", data),
      with_header("{'descr': '<f8', 'fortran_order': False, 'shape': (4294967296, 4294967296, 2), }", data),
      with_header("{'descr': '<f8', 'fortran_order': False, 'shape': (9223372036854775807, 2, 2), }", data),
      with_header("{'descr': '<f8', 'fortran_order': False, }", data),
      with_header("{'descr': '<f8', 'descr': '<f8', 'fortran_order': False, 'shape': (2,), }", data),
      with_header("{'descr': '<f8', 'fortran_order': False, 'shape': (2,), 'more': (2,), }", data),
      with_header(good + " x", data),
      with_header("{'descr': '<f8", data)};
  std::string version = with_header(good, data), length = version;
  version[6] = 9;
  length[9] = '\x7f';
  hostile.insert(hostile.end(), {version, length});
  for (std::size_t cut = 0; cut < 10 + good.size() + data.size(); ++cut)
    hostile.push_back(with_header(good, data).substr(0, cut));
  for (const std::string& bytes : hostile) {
    io::write_file(path / "bad.npy", bytes);
    BOOST_CHECK_EXCEPTION(io::load_npy<double>(path / "bad.npy"), IoError,
                          [](const IoError& e) { return e.argument().find("bad.npy") != std::string::npos; });
  }
  io::write_file(path / "good.npy", with_header(good, data));
  BOOST_TEST(io::load_npy<double>(path / "good.npy").values.size() == 2U);
}

BOOST_AUTO_TEST_SUITE_END()

# SPDX-License-Identifier: MIT
# What Doxygen reads in place of our files; lines keep their numbers.
{
  # It does not know `namespace a::inline B::c`.
  sub(/::inline INCIPIT_ABI/, "")

  # A docstring's `@par Title text` stands on one line; Doxygen takes the whole line for the title.
  while (match($0, /@par [A-Z][A-Za-z-]* +/)) {
    title = substr($0, RSTART + 5, RLENGTH - 5)
    sub(/ +$/, "", title)
    $0 = substr($0, 1, RSTART - 1) "@titled{" title "} " substr($0, RSTART + RLENGTH)
  }

  # `double a, b;  ///< text` documents both.
  if (match($0, /;[ \t]*\/\/\/< /) && $0 ~ /^[ \t]+[a-z_A-Z]/ && $0 !~ /^[ \t]+(using|return|friend|template)/) {
    declaration = substr($0, 1, RSTART - 1)
    text = substr($0, RSTART + RLENGTH)
    head = declaration
    sub(/[={].*/, "", head)
    if (head !~ /\(/) {
      n = 0
      depth = 0
      piece = ""
      for (i = 1; i <= length(declaration); ++i) {
        c = substr(declaration, i, 1)
        if (c ~ /[<({[]/) ++depth
        if (c ~ /[])}>]/) --depth
        if (c == "," && depth == 0) { pieces[++n] = piece; piece = "" } else piece = piece c
      }
      pieces[++n] = piece
      if (n > 1) {
        type = pieces[1]
        sub(/[={].*/, "", type)
        sub(/[ \t]+$/, "", type)
        sub(/[A-Za-z_0-9]+$/, "", type)
        $0 = pieces[1] "; /**< " text " */"
        for (i = 2; i <= n; ++i) sub(/^[ \t]+/, "", pieces[i])
        for (i = 2; i <= n; ++i) $0 = $0 " " type pieces[i] "; /**< " text " */"
      }
    }
  }
  print
}

# SPDX-License-Identifier: BSD-3-Clause
# Homebrew: brew install --HEAD ./hunch.rb, in a clone of the repository.
class Hunch < Formula
  desc "Online multiclass learning from right-or-wrong feedback"
  homepage "file://#{File.expand_path("..", __dir__)}"
  license "BSD-3-Clause"
  head "file://#{File.expand_path("..", __dir__)}", using: :git, branch: "main"

  depends_on "meson" => :build
  depends_on "ninja" => :build
  depends_on "pkgconf" => :build
  depends_on "jansson"
  depends_on "libunistring"
  depends_on "libarchive"
  depends_on "libmicrohttpd"
  depends_on "librdkafka"
  depends_on "nettle"
  depends_on "sqlite"
  depends_on "xxhash"
  depends_on "zstd"

  uses_from_macos "curl"

  def install
    system "meson", "setup", "build", "-Dtests=false", *std_meson_args
    system "meson", "compile", "-C", "build"
    system "meson", "install", "-C", "build"
  end

  test do
    system bin/"hunch", "synth", "synsep", "--rows", "500", "-o", "syn.svm"
    assert_match "confident", shell_output("#{bin}/hunch run -q syn.svm")
  end
end

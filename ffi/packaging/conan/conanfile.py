"""The Conan recipe, for Conan 2: `conan create ffi/packaging/conan` in a checkout, with cargo installed."""

from conan import ConanFile
from conan.tools.cmake import CMake, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load
from conan.tools.scm import Git
import os
import re


class Podrank(ConanFile):
    name = "podrank"
    description = "Which pods go first when Kubernetes scales down, as one total order"
    url = homepage = "https://github.com/podrank/podrank"
    license = "Apache-2.0"
    settings = "os", "arch", "compiler", "build_type"
    options = {"shared": [True, False]}
    default_options = {"shared": False}
    package_type = "library"

    def set_version(self):
        cargo = load(self, os.path.join(self.recipe_folder, "..", "..", "..", "Cargo.toml"))
        self.version = re.search(r'^version = "(.*)"', cargo, re.MULTILINE).group(1)

    def export(self):
        Git(self, os.path.join(self.recipe_folder, "..", "..", "..")).coordinates_to_conandata()

    def source(self):
        Git(self).checkout_from_conandata_coordinates()

    def configure(self):
        # The library is not in C++, and its C ABI is the same with every compiler.
        self.settings.rm_safe("compiler.cppstd")
        self.settings.rm_safe("compiler.libcxx")

    def layout(self):
        cmake_layout(self)

    def generate(self):
        CMakeToolchain(self).generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        licenses = os.path.join(self.package_folder, "licenses")
        copy(self, "LICENSE", self.source_folder, licenses)
        copy(self, "NOTICE", self.source_folder, licenses)
        copy(self, "THIRD-PARTY.txt", os.path.join(self.source_folder, "go"), licenses)
        CMake(self).install()

    def package_info(self):
        # What the library installs itself, rather than what Conan would write.
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.builddirs = [os.path.join("lib", "cmake", "podrank")]
        self.cpp_info.libs = ["podrank"]

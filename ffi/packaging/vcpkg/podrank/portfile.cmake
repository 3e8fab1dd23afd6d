# The vcpkg port, for a checkout: vcpkg install podrank --overlay-ports=ffi/packaging/vcpkg, with cargo installed. cargo builds the
# library in one way only.
set(VCPKG_BUILD_TYPE release)
get_filename_component(SOURCE_PATH "${CURRENT_PORT_DIR}/../../../.." ABSOLUTE)
vcpkg_cmake_configure(SOURCE_PATH "${SOURCE_PATH}" OPTIONS -DPODRANK_CMAKE_DIR=share/podrank)
vcpkg_cmake_install()
vcpkg_fixup_pkgconfig()
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE" "${SOURCE_PATH}/NOTICE" "${SOURCE_PATH}/go/THIRD-PARTY.txt")

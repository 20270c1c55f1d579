#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "core/trace/symbols/function_names.hpp"
#include "core/trace/symbols/rust_names.hpp"
#include "tests/support/catch.hpp"

using namespace memsweep;
using trace::FunctionRole;

namespace {

using Names = std::vector<std::pair<const char*, const char*>>;

void check(const Names& names)
{
    for (const auto& [mangled, name] : names) {
        INFO(mangled);
        CHECK(trace::demangled(mangled) == name);
    }
}

std::string in_base_62(std::size_t number)
{
    constexpr const char* digits = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    if (number == 0) {
        return "_";
    }
    std::string text = "_";
    for (std::size_t rest = number - 1;; rest /= 62) {
        text.insert(text.begin(), digits[rest % 62]);
        if (rest < 62) {
            return text;
        }
    }
}

// Each tuple holds the one before twice.
std::string doubling(unsigned times)
{
    std::string path = "INvC1a1b";
    std::size_t before = path.size();
    path += "TuuE";
    for (unsigned i = 0; i < times; ++i) {
        const std::string back = "B" + in_base_62(before);
        before = path.size();
        path += "T" + back + back + "E";
    }
    return "_R" + path + "E";
}

}  // namespace

TEST_CASE("names of the RFC", "[unit]")
{
    check({{"_RNvC6_123foo3bar", "123foo::bar"},
           {"_RNvCs1234_7mycrate3foo", "mycrate::foo"},
           {"_RNvNtCs1234_7mycrate3foo3bar", "mycrate::foo::bar"},
           {"_RNCNvCs1234_7mycrate3foo0", "mycrate::foo::{closure#0}"},
           {"_RNCNvCs1234_7mycrate3foos_0", "mycrate::foo::{closure#1}"},
           {"_RNSNvCs1234_7mycrate3foo6vtable", "mycrate::foo::{shim:vtable#0}"},
           {"_RINvNtC3std3mem8align_ofdE", "std::mem::align_of::<f64>"},
           {"_RINvNtC3std3mem8align_ofINtC3foo3BardEE", "std::mem::align_of::<foo::Bar<f64>>"},
           {"_RNvMs_C7mycrateNtB4_3Foo3new", "<mycrate::Foo>::new"},
           {"_RNvXCs1234_7mycrateNtB2_3FooNtNtC3std5clone5Clone5clone", "<mycrate::Foo as std::clone::Clone>::clone"},
           {"_RNvYNtC7mycrate3FooNtNtC3std5clone5Clone5clone", "<mycrate::Foo as std::clone::Clone>::clone"},
           {"_RNvC7mycrateu8gdel_5qa", "mycrate::g\xC3\xB6"
                                       "del"},
           {"_RINvC7mycrate3fooKj7b_E", "mycrate::foo::<123>"},
           {"_RINvC7mycrate3fooKln5_E", "mycrate::foo::<-5>"},
           {"_RINvC7mycrate3fooKb1_Kb0_E", "mycrate::foo::<true, false>"},
           {"_RINvC7mycrate3fooKc2202_Kc27_KcA_E", "_RINvC7mycrate3fooKc2202_Kc27_KcA_E"},
           {"_RINvC7mycrate3fooKc2202_Kc27_Kca_E", "mycrate::foo::<'\xE2\x88\x82', '\\'', '\\u{a}'>"},
           {"_RINvC7mycrate3fooKo123456789abcdef01_E", "mycrate::foo::<0x123456789abcdef01>"}});
}

TEST_CASE("types", "[unit]")
{
    check({{"_RINvC1a1fRhQePxOyE", "a::f::<&u8, &mut str, *const i64, *mut u64>"},
           {"_RINvC1a1fAhj4_SlTuzEThEvE", "a::f::<[u8; 4], [i32], ((), !), (u8,), ...>"},
           {"_RINvC1a1fFEuFUKCmEbFK7sysv_64hEjE",
            "a::f::<fn(), unsafe extern \"C\" fn(u32) -> bool, extern \"sysv-64\" fn(u8) -> usize>"},
           {"_RINvC1a1fFG0_RL1_hRL0_hEB3_E", "_RINvC1a1fFG0_RL1_hRL0_hEB3_E"},
           {"_RINvC1a1fFG0_RL1_hRL0_hEuE", "a::f::<for<'a, 'b> fn(&'a u8, &'b u8)>"},
           {"_RINvC1a1fDNtC1b1TEL_DINtC1b2FnTEEp6OutputhNtC1b4SendEL_E",
            "a::f::<dyn b::T, dyn b::Fn<(), Output = u8> + b::Send>"},
           {"_RINvC1a1fL_E", "a::f::<'_>"}});
}

TEST_CASE("constants that are more than numbers", "[unit]")
{
    check({{"_RINvC1a1fKRe616263_KRe22c3b6_KRe_E", "a::f::<\"abc\", \"\\\"\xC3\xB6\", \"\">"},
           {"_RINvC1a1fKe61_E", "a::f::<{*\"a\"}>"},
           {"_RINvC1a1fKRRe61_KQAh1_h2_EKTh1_EKRTh1_b1_EE", "a::f::<{&\"a\"}, {&mut [1, 2]}, {(1,)}, {&(1, true)}>"},
           {"_RINvC1a1fKVNtC1a4UnitUKVNtC1a2OfTh1_h2_EKVNtC1a4WithS1xh1_1yb1_EE",
            "a::f::<{a::Unit}, {a::Of(1, 2)}, {a::With { x: 1, y: true }}>"}});
}

// `nm` of what rustc 1.95 makes with -C symbol-mangling-version=v0; llvm-cxxfilt 16 says the same of them, but for the
// suffixes.
TEST_CASE("names of a compiler", "[unit]")
{
    check(
        {{"_RINvCs6GmmlP4bgsG_1r4holdThuAaj3_ReRScINtNtCsgEmfK2I1SDS_4core6option6OptionFG_RL0_hERL0_hEEEB2_",
          "r::hold::<(u8, (), [i8; 3], &str, &[char], core::option::Option<for<'a> fn(&'a u8) -> &'a u8>)>"},
         {"_RINvMNtCslNYArtu3iFV_5alloc5sliceSNtNtB5_6string6String7sort_byNCNCNvCs6GmmlP4bgsG_1r4main0s_0EB15_",
          "<[alloc::string::String]>::sort_by::<r::main::{closure#0}::{closure#1}>"},
         {"_RINvMNtCsgEmfK2I1SDS_4core6optionINtB3_6OptionReE11map_or_elseNtNtCslNYArtu3iFV_5alloc6string6StringNCNvN"
          "tB12_3fmt6format0NvYeNtNtB12_6borrow7ToOwned8to_ownedECs6GmmlP4bgsG_1r",
          "<core::option::Option<&str>>::map_or_else::<alloc::string::String, alloc::fmt::format::{closure#0}, <str as "
          "alloc::borrow::ToOwned>::to_owned>"},
         {"_RINvMNtNtCsgEmfK2I1SDS_4core3fmt2rtNtB3_8Argument9new_debugINtNtB7_6result6ResultINtNtCslNYArtu3iFV_5alloc"
          "3vec3VecNtNtB1m_6string6StringEINtNtB1m_5boxed3BoxDNtNtB7_3any3AnyNtNtB7_6marker4SendEL_EEECs6GmmlP4bgsG_1r",
          "<core::fmt::rt::Argument>::new_debug::<core::result::Result<alloc::vec::Vec<alloc::string::String>, "
          "alloc::boxed::Box<dyn core::any::Any + core::marker::Send>>>"},
         {"_RNvC6_123foo3bar.llvm.0123456789", "123foo::bar"},
         {"_RNvC6_123foo3bar.cold", "123foo::bar.cold"}});
    CHECK(trace::role_of("<alloc::alloc::Global as core::alloc::Allocator>::allocate") == FunctionRole::allocator);
    CHECK(trace::bare_name("<fn(u8) -> r::Key as r::Shape<7>>::area") == "<fn(u8) -> r::Key as r::Shape<7>>::area");
}

TEST_CASE("functions of Rust's own crates are the library's", "[unit]")
{
    for (const char* const name :
         {"<alloc::vec::Vec<r::Row>>::push", "<[r::Row]>::sort_by::<r::main::{closure#0}>",
          "<u64 as alloc::vec::spec_from_elem::SpecFromElem>::from_elem::<alloc::alloc::Global>",
          "<&[u8] as core::fmt::Debug>::fmt", "<(r::Row, u8) as core::clone::Clone>::clone",
          "<T as core::convert::Into<U>>::into", "<&T as core::fmt::Display>::fmt", "<I as core::iter::Iterator>::next",
          "<fn(r::Row) -> u8 as core::ops::function::FnOnce<(r::Row,)>>::call_once", "<str>::to_owned",
          "<dyn core::any::Any>::downcast_ref::<r::Row>", "hashbrown::raw::RawTable<T,A>::reserve_rehash"}) {
        INFO(name);
        CHECK(trace::role_of(name) == FunctionRole::library);
    }
    for (const char* const name :
         {"<r::Row as core::clone::Clone>::clone", "<r::Rows<u64> as r::Fill>::fill",
          "<alloc::vec::Vec<u8> as r::Fill>::fill", "<&r::Row as core::iter::traits::collect::IntoIterator>::into_iter",
          "<r::Row>::new", "<dyn r::Fill>::all", "<u8 as r::Fill>::fill", "r::main", "<", "<u8", ">"}) {
        INFO(name);
        CHECK(trace::role_of(name) == FunctionRole::program);
    }
}

TEST_CASE("what is no such name stays as it is, and nothing takes long", "[unit]")
{
    for (const char* const name :
         {"_R", "_Rb_tree_insert", "_RN", "_RNvC3", "_RNvC9999999999999999999999foo", "_RC3foo!", "_R1NvC3foo3bar",
          "_RNvC3foo3barX", "_RB_", "_RNvB_1x", "_RINvC1a1bB_E", "_RNvC1au3\xC3\xB6"}) {
        INFO(name);
        CHECK_FALSE(trace::rust_name(name));
        CHECK(trace::demangled(name) == name);
    }
    CHECK(
        trace::rust_name(doubling(3)) ==
        "a::b::<((), ()), (((), ()), ((), ())), ((((), ()), ((), ())), (((), ()), ((), ()))), (((((), ()), ((), ())), "
        "(((), ()), ((), ()))), ((((), ()), ((), ())), (((), ()), ((), ()))))>");
    const auto before = std::chrono::steady_clock::now();
    CHECK_FALSE(trace::rust_name(doubling(100)));
    CHECK_FALSE(trace::rust_name("_RINvC1a1b" + std::string(100'000, 'R') + "hE"));
    CHECK_FALSE(trace::rust_name("_RINvC1a1bFGzzzzzzzz_EuE"));
    // Were it not bounded it would take hours.
    CHECK(std::chrono::steady_clock::now() - before < std::chrono::minutes{1});
}

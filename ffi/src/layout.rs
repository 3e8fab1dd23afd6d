//! Assertions on the layout of structs. They fail when the crate is compiled, and are not in the library.

/// C's struct is as large and as aligned as the core's, and has these members in the same places.
macro_rules! same_layout {
    ($c:ident, $core:ty, $size:literal: $($member:ident)*) => {
        const _: () = {
            assert!(size_of::<$c>() == size_of::<$core>() && size_of::<$core>() == $size);
            assert!(align_of::<$c>() == align_of::<$core>());
            $(assert!(core::mem::offset_of!($c, $member) == core::mem::offset_of!($core, $member));)*
        };
    };
}

/// C's struct has this size, and these members at these offsets.
macro_rules! layout {
    ($c:ident, $size:literal: $($offset:literal $member:ident),*) => {
        const _: () = {
            assert!(size_of::<$c>() == $size);
            $(assert!(core::mem::offset_of!($c, $member) == $offset);)*
        };
    };
}

pub(crate) use {layout, same_layout};

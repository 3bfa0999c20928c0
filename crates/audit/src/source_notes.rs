//! Notes about lines of sources: hints for an NPU, and suggested fused operators.

/// A data type, quantization method or compiler that a source names.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Hint {
    /// Its kind.
    pub kind: HintKind,
    /// The name as written in the source.
    pub name: String,
    /// Its line, counted from 1.
    pub line: u32,
}

/// Kind of a [`Hint`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum HintKind {
    /// 64-bit floating point.
    Double,
    /// A complex data type.
    Complex,
    /// bfloat16.
    Bfloat16,
    /// 8-bit floating point.
    Float8,
    /// A quantization library or option, by name.
    Quantization,
    /// A backend of `torch.compile`, by name.
    Backend,
    /// A module with CUDA-only kernels that the file always imports.
    CudaModule,
    /// Such a module, imported under a condition, in a function or in a `try` block; or a module
    /// that partly runs on NPUs.
    MaybeCudaModule,
    /// Triton, whose kernels are compiled for the device.
    Triton,
    /// A C++ or CUDA extension that the sources build, by the function that builds it.
    Extension,
    /// A model defined in a package, by the call that loads it.
    PackagedModel,
}

/// An expression that one operator of `torch_npu` can compute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Suggestion {
    /// The row of `data/ops/fusions.tsv`.
    pub rule: &'static str,
    /// Its line, counted from 1.
    pub line: u32,
    /// The expression as written.
    pub before: String,
    /// The byte range of the expression in the text that was read.
    pub range: std::ops::Range<usize>,
    /// The replacement, if it is unambiguous.
    pub after: Option<String>,
}

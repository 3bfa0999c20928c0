//! Notes about lines of sources: hints for an NPU, and suggested fused operators.

/// A data type, quantization method or compiler that a source names.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Hint {
    /// Its kind.
    pub kind: HintKind,
    /// The name as it stands there.
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
    /// A library or option of quantization, by its name.
    Quantization,
    /// A backend of `torch.compile`, by its name.
    Backend,
    /// A module with kernels for CUDA alone that the file imports in any case.
    CudaModule,
    /// Such a module, imported under a condition, in a function or where a failure is caught; or one
    /// that runs on NPUs in part.
    MaybeCudaModule,
    /// Triton, whose kernels are compiled for the device.
    Triton,
    /// An extension in C++ or CUDA that the sources build, by the function.
    Extension,
    /// A model that is defined in a package, by the call that loads it.
    PackagedModel,
}

/// An expression that one operator of `torch_npu` computes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Suggestion {
    /// The row of `data/ops/fusions.tsv`.
    pub rule: &'static str,
    /// Its line, counted from 1.
    pub line: u32,
    /// The expression as it is written.
    pub before: String,
    /// Where that stands: bytes of the text that was read.
    pub range: std::ops::Range<usize>,
    /// What takes its place, where that is plain.
    pub after: Option<String>,
}

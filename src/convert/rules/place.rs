//! The places that the code recognizes by their shape. Each has a rule, by its name.

/// Defines [`Place`] with the names of its rules.
macro_rules! places {
    ($($place:ident = $name:literal,)*) => {
        /// A place that the code recognizes by its shape, or something of a file that is not
        /// Python.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[expect(missing_docs, reason = "what a place is, its rule says")]
        pub enum Place { $($place,)* }

        impl Place {
            /// All of them, in the order of their numbers.
            pub const ALL: &[Self] = &[$(Self::$place,)*];

            /// The name of its rule in `data/convert/`.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$place => $name,)* }
            }
        }
    };
}

places! {
    AutocastDevice = "autocast-device",
    AutocastEnabled = "autocast-enabled",
    AutocastEnabledDefault = "autocast-enabled-default",
    AutogradProfilerDefault = "autograd-profiler-default",
    AutogradProfilerUseCuda = "autograd-profiler-use-cuda",
    BackendComparison = "backend-comparison",
    BackendPerDevice = "backend-per-device",
    BackendString = "backend-string",
    CiCudaImage = "ci-cuda-image",
    CmakeCuda = "cmake-cuda",
    Collision = "collision",
    ComposeNvidia = "compose-nvidia",
    ConfigAccelerate = "config-accelerate",
    ConfigDevice = "config-device",
    CppCudaContext = "cpp-cuda-context",
    CppCudaGuard = "cpp-cuda-guard",
    CppCudaRuntime = "cpp-cuda-runtime",
    CppCudaVersion = "cpp-cuda-version",
    CppCurrentStream = "cpp-current-stream",
    CppDispatchKey = "cpp-dispatch-key",
    CppIsCuda = "cpp-is-cuda",
    CudaOnlyGuard = "cuda-only-guard",
    CudaErrorText = "cuda-error-text",
    CudaSource = "cuda-source",
    CustomCudaOps = "custom-cuda-ops",
    DataParallel = "data-parallel",
    DefaultDevice = "default-device",
    DefaultTensorType = "default-tensor-type",
    DeviceConcatenation = "device-concatenation",
    DeviceFstring = "device-fstring",
    DeviceKeyword = "device-keyword",
    DeviceMesh = "device-mesh",
    DevicePropertiesField = "device-properties-field",
    DeviceStartswith = "device-startswith",
    DeviceString = "device-string",
    DeviceStringMethod = "device-string-method",
    DeviceTypeComparison = "device-type-comparison",
    DeviceTypeMembership = "device-type-membership",
    DockerRunGpus = "docker-run-gpus",
    DockerfileFrom = "dockerfile-from",
    EnvAllocClash = "env-alloc-clash",
    EnvAllocKey = "env-alloc-key",
    EnvDeviceIds = "env-device-ids",
    EnvDeviceOrder = "env-device-order",
    EnvValue = "env-value",
    ExtensionLoadCu = "extension-load-cu",
    ExtensionLoadInline = "extension-load-inline",
    ForkRngDefault = "fork-rng-default",
    FromTorchCudaAmpImport = "from-torch-cuda-amp-import",
    FromTorchCudaImport = "from-torch-cuda-import",
    FromTorchCudaImportModule = "from-torch-cuda-import-module",
    FromTorchImportCuda = "from-torch-import-cuda",
    GeneratorDevice = "generator-device",
    GetattrCuda = "getattr-cuda",
    GradscalerDefault = "gradscaler-default",
    GradscalerDevice = "gradscaler-device",
    GradscalerFifthArgument = "gradscaler-fifth-argument",
    HasattrCuda = "hasattr-cuda",
    ImportTorchCuda = "import-torch-cuda",
    ImportTorchCudaAs = "import-torch-cuda-as",
    InitDeviceMesh = "init-device-mesh",
    InitProcessGroupDefault = "init-process-group-default",
    InsertTorchNpu = "insert-torch-npu",
    K8sNvidiaGpu = "k8s-nvidia-gpu",
    LdLibraryPathCuda = "ld-library-path-cuda",
    LoadDefault = "load-default",
    MapLocation = "map-location",
    MapLocationDict = "map-location-dict",
    MessageWords = "message-words",
    ModuleCuda = "module-cuda",
    NativePort = "native-port",
    NewGroupBackend = "new-group-backend",
    NotebookCell = "notebook-cell",
    NvccArguments = "nvcc-arguments",
    NvidiaSmiCommand = "nvidia-smi-command",
    OrtIoBinding = "ort-io-binding",
    OutOfMemoryText = "out-of-memory-text",
    PinMemoryDevice = "pin-memory-device",
    ProfilerCudaSortKey = "profiler-cuda-sort-key",
    ProfilerExperimentalConfig = "profiler-experimental-config",
    ProviderOptions = "provider-options",
    RequirementsCondaTorch = "requirements-conda-torch",
    RequirementsCudaPackage = "requirements-cuda-package",
    RequirementsCudaWheel = "requirements-cuda-wheel",
    RequirementsHash = "requirements-hash",
    RequirementsNoTorchNpu = "requirements-no-torch-npu",
    RequirementsOtherVersions = "requirements-other-versions",
    RequirementsTorchUnpinned = "requirements-torch-unpinned",
    RustCuda = "rust-cuda",
    RustOrtOption = "rust-ort-option",
    RustOrtProvider = "rust-ort-provider",
    ShellCudaTool = "shell-cuda-tool",
    ShellDeviceOption = "shell-device-option",
    ShellDocument = "shell-document",
    ShellInlinePython = "shell-inline-python",
    ShellNvidiaSmi = "shell-nvidia-smi",
    SlurmGres = "slurm-gres",
    TensorTypeString = "tensor-type-string",
    ToDevice = "to-device",
    TorchCompile = "torch-compile",
    TorchJit = "torch-jit",
    UnknownCudaName = "unknown-cuda-name",
    VendorShim = "vendor-shim",
    XlaFlags = "xla-flags",
}

//! Calls of torch functions whose meaning depends on an absent argument or on its position.

use ruff_python_ast::{Expr, ExprCall};
use ruff_text_size::Ranged as _;

use super::edits::Edits;
use super::literal::{self, span};
use super::name_targets::{Target, target};
use super::source::Source;
use crate::rules::{Place, Rules};
use crate::site::Certainty;
use pysyntax::scope::ScopeId;

/// A call of a torch function, and the plan that receives its edits.
pub(super) struct TorchCall<'e, 'a> {
    pub call: &'e ExprCall,
    pub source: &'e Source<'a>,
    pub edits: &'e mut Edits<'a>,
}

impl TorchCall<'_, '_> {
    /// Plans the edits for a call of the function `path`.
    pub(super) fn plan(&mut self, path: &str) {
        let Self { call, source, .. } = *self;
        let range = call.range();
        let arguments = &call.arguments;
        let has = |name: &str| arguments.find_keyword(name).is_some();
        // `f(*args)` and `f(**options)` may pass the arguments that seem to be missing.
        let open = arguments.args.iter().any(Expr::is_starred_expr)
            || arguments.keywords.iter().any(|keyword| keyword.arg.is_none());
        let count = arguments.args.len();
        match path {
            "torch.amp.GradScaler" if count == 0 && !has("device") && !open => {
                self.prepend_argument(Place::GradscalerDefault, "\"npu\"");
            }
            "torch.random.fork_rng" if count < 5 && !has("device_type") && !open => {
                let rule = Rules::builtin().site(Place::ForkRngDefault);
                let text = "device_type=\"npu\"";
                self.edits.append_argument(rule, call, text, Certainty::Exact);
            }
            "torch.is_autocast_enabled" if count == 0 && !open => {
                self.rename(Place::AutocastEnabledDefault, "is_autocast_enabled");
            }
            "torch.set_autocast_enabled" if count >= 2 => {}
            "torch.cuda.amp.GradScaler" if count >= 5 && !open => {
                let rule = Rules::builtin().site(Place::GradscalerFifthArgument);
                let at = span(arguments.args[4].range()).start;
                self.edits.change(rule, at..at, "enabled=", Certainty::Exact);
            }
            "torch.load" | "torch.jit.load" if count < 2 && !has("map_location") && !open => {
                self.edits.flag_site(Place::LoadDefault, range);
            }
            "torch.nn.DataParallel" | "torch.nn.parallel.data_parallel" => {
                self.edits.flag_site(Place::DataParallel, range);
            }
            "torch.distributed.init_process_group" if count == 0 && !has("backend") && !open => {
                self.edits.flag_site(Place::InitProcessGroupDefault, range);
            }
            "torch.jit.script" if source.context.options.transfer => {
                self.edits.flag_site(Place::TorchJit, range);
            }
            // A rule may handle the backend.
            "torch.compile" if !has_kept(self.edits, call) => {
                self.edits.flag_site(Place::TorchCompile, range);
            }
            "torch.set_default_tensor_type" => {
                let text = arguments.args.first().map_or("", |arg| &source.text[arg.range()]);
                if text.contains("cuda") {
                    self.edits.flag_site(Place::DefaultTensorType, range);
                    self.edits.keep(range);
                }
            }
            "torch.autograd.profiler.profile" => {
                let site = if has("use_cuda") {
                    Place::AutogradProfilerUseCuda
                } else {
                    Place::AutogradProfilerDefault
                };
                if !has("use_device") {
                    self.edits.flag_site(site, range);
                }
            }
            "torch.profiler.profile" if has("experimental_config") => {
                self.edits.flag_site(Place::ProfilerExperimentalConfig, range);
            }
            "torch.utils.cpp_extension.load"
                if has("extra_cuda_cflags") || source.text[range].contains(".cu") =>
            {
                self.edits.flag_site(Place::ExtensionLoadCu, range);
            }
            "torch.utils.cpp_extension.load_inline" if has("cuda_sources") => {
                self.edits.flag_site(Place::ExtensionLoadInline, range);
            }
            _ => {}
        }
        if has("extra_compile_args") && source.text[range].contains("nvcc") {
            self.edits.flag_site(Place::NvccArguments, range);
        }
    }

    /// Plans a dotted name in a string: `patch('torch.cuda.is_available')`.
    pub(super) fn plan_patch(&mut self) {
        let Self { call, source, .. } = *self;
        let Some(first) = call.arguments.args.first() else { return };
        let Some(path) = literal::plain(first).filter(|path| path.starts_with("torch.cuda")) else {
            return;
        };
        if let Target::Rewrite { rule, .. } = target(path, source.context) {
            self.edits.change_words(rule, first, ("cuda", "npu"), Certainty::Exact);
        }
    }

    /// Inserts `text` before the arguments of the call.
    fn prepend_argument(&mut self, site: Place, text: &str) {
        let call = self.call;
        let at = span(call.arguments.range()).start + 1;
        let text = if call.arguments.is_empty() { text.to_owned() } else { format!("{text}, ") };
        let rule = Rules::builtin().site(site);
        self.edits.change(rule, at..at, text, Certainty::Exact);
    }

    /// Renames the function of the call: `torch.is_autocast_enabled()` refers to CUDA,
    /// `torch.npu.is_autocast_enabled()` to the NPU, in every version.
    fn rename(&mut self, site: Place, name: &str) {
        let call = self.call;
        let rule = Rules::builtin().site(site);
        match &*call.func {
            Expr::Attribute(attribute) => {
                let at = span(attribute.attr.range()).start;
                self.edits.needs.torch_npu |=
                    self.edits.change(rule, at..at, "npu.", Certainty::Exact);
            }
            Expr::Name(_) => {
                let at = span(call.arguments.range()).start + 1;
                self.edits.change(rule, at..at, "\"npu\"", Certainty::Exact);
            }
            _ => self.edits.flag(rule, span(call.range()), Some(name.to_owned())),
        }
    }
}

/// Whether a rule handles a named argument.
fn has_kept(edits: &Edits<'_>, call: &ExprCall) -> bool {
    call.arguments.keywords.iter().any(|keyword| edits.is_kept(&span(keyword.value.range())))
}

/// Plans `getattr(torch, 'cuda')`.
pub(super) fn plan_attribute_by_name(
    source: &Source<'_>,
    edits: &mut Edits<'_>,
    call: &ExprCall,
    scope: ScopeId,
    name: &str,
) {
    let [object, attribute, ..] = &*call.arguments.args else { return };
    let Some(word) = literal::plain(attribute) else { return };
    let Some(path) = source.scopes.path(object, scope) else { return };
    if path == "torch" && word == "cuda" {
        let site = if name == "hasattr" { Place::HasattrCuda } else { Place::GetattrCuda };
        let rule = Rules::builtin().site(site);
        for (range, to) in literal::device(source.text, attribute) {
            edits.change(rule, range, to, Certainty::Exact);
        }
    }
}

//! Functions of torch whose meaning hangs on an argument that is not there, or on its place.

use ruff_python_ast::{Expr, ExprCall};
use ruff_text_size::Ranged as _;

use super::engine::Engine;
use super::literal::{self, span};
use crate::rules::Place;
use crate::site::Certainty;

impl<'a> Engine<'a> {
    /// A call of a function that is known by its dotted name.
    pub(super) fn known_function(&mut self, expr: &'a Expr, call: &'a ExprCall, path: &str) {
        let arguments = &call.arguments;
        let has = |name: &str| arguments.find_keyword(name).is_some();
        // `f(*args)` and `f(**options)` may give what seems to be missing.
        let open = arguments.args.iter().any(Expr::is_starred_expr)
            || arguments.keywords.iter().any(|keyword| keyword.arg.is_none());
        let count = arguments.args.len();
        match path {
            "torch.amp.GradScaler" if count == 0 && !has("device") && !open => {
                self.first_argument(call, Place::GradscalerDefault, "\"npu\"");
            }
            "torch.random.fork_rng" if count < 5 && !has("device_type") && !open => {
                self.last_argument(call, Place::ForkRngDefault, "device_type=\"npu\"");
            }
            "torch.is_autocast_enabled" if count == 0 && !open => {
                self.rename_call(call, Place::AutocastEnabledDefault, "is_autocast_enabled");
            }
            "torch.set_autocast_enabled" if count >= 2 => {}
            "torch.cuda.amp.GradScaler" if count >= 5 && !open => {
                let rule = self.rules.site(Place::GradscalerFifthArgument);
                let at = span(arguments.args[4].range()).start;
                self.change(rule, at..at, "enabled=", Certainty::Exact);
            }
            "torch.load" | "torch.jit.load" if count < 2 && !has("map_location") && !open => {
                self.flag_site(Place::LoadDefault, expr.range());
            }
            "torch.nn.DataParallel" | "torch.nn.parallel.data_parallel" => {
                self.flag_site(Place::DataParallel, expr.range());
            }
            "torch.distributed.init_process_group" if count == 0 && !has("backend") && !open => {
                self.flag_site(Place::InitProcessGroupDefault, expr.range());
            }
            "torch.jit.script" if self.context.options.transfer => {
                self.flag_site(Place::TorchJit, expr.range());
            }
            "torch.compile" => self.flag_site(Place::TorchCompile, expr.range()),
            "torch.set_default_tensor_type" => {
                let text = arguments.args.first().map_or("", |arg| &self.text[arg.range()]);
                if text.contains("cuda") {
                    self.flag_site(Place::DefaultTensorType, expr.range());
                    self.keep_range(expr.range());
                }
            }
            "torch.autograd.profiler.profile" => {
                let site = if has("use_cuda") {
                    Place::AutogradProfilerUseCuda
                } else {
                    Place::AutogradProfilerDefault
                };
                if !has("use_device") {
                    self.flag_site(site, expr.range());
                }
            }
            "torch.profiler.profile" if has("experimental_config") => {
                self.flag_site(Place::ProfilerExperimentalConfig, expr.range());
            }
            "torch.utils.cpp_extension.load"
                if has("extra_cuda_cflags") || self.text[expr.range()].contains(".cu") =>
            {
                self.flag_site(Place::ExtensionLoadCu, expr.range());
            }
            "torch.utils.cpp_extension.load_inline" if has("cuda_sources") => {
                self.flag_site(Place::ExtensionLoadInline, expr.range());
            }
            "unittest.mock.patch" => self.patched(call),
            _ => {}
        }
        if has("extra_compile_args") && self.text[expr.range()].contains("nvcc") {
            self.flag_site(Place::NvccArguments, expr.range());
        }
    }

    /// `getattr(torch, 'cuda')`.
    pub(super) fn attribute_by_name(&mut self, call: &'a ExprCall, name: &str) {
        let [object, attribute, ..] = &*call.arguments.args else { return };
        let Some(word) = literal::plain(attribute) else { return };
        let Some(path) = self.scopes.path(object, self.scope) else { return };
        if path == "torch" && word == "cuda" {
            let site = if name == "hasattr" { Place::HasattrCuda } else { Place::GetattrCuda };
            let rule = self.rules.site(site);
            for (range, to) in literal::device(self.text, attribute) {
                self.change(rule, range, to, Certainty::Exact);
            }
        }
    }

    /// `patch('torch.cuda.is_available')`: a dotted name in a string.
    fn patched(&mut self, call: &'a ExprCall) {
        let Some(first) = call.arguments.args.first() else { return };
        let Some(path) = literal::plain(first).filter(|path| path.starts_with("torch.cuda")) else {
            return;
        };
        if let super::api::Target::Rewrite { rule, .. } = super::api::target(path, self.context) {
            for range in literal::texts(first) {
                for (part, to) in literal::words(self.text, range, "cuda", "npu") {
                    self.change(rule, part, to, Certainty::Exact);
                }
            }
        }
    }

    /// Puts `text` in front of the arguments of a call.
    fn first_argument(&mut self, call: &'a ExprCall, site: Place, text: &str) {
        let at = span(call.arguments.range()).start + 1;
        let text = if call.arguments.is_empty() { text.to_owned() } else { format!("{text}, ") };
        let rule = self.rules.site(site);
        self.change(rule, at..at, text, Certainty::Exact);
    }

    /// Puts `text` behind the arguments of a call.
    fn last_argument(&mut self, call: &'a ExprCall, site: Place, text: &str) {
        let rule = self.rules.site(site);
        let last = call
            .arguments
            .args
            .iter()
            .map(Expr::end)
            .chain(call.arguments.keywords.iter().map(ruff_text_size::Ranged::end))
            .max();
        let (at, text) = match last {
            Some(end) => (end.to_usize(), format!(", {text}")),
            None => (span(call.arguments.range()).start + 1, text.to_owned()),
        };
        self.change(rule, at..at, text, Certainty::Exact);
    }

    /// `torch.is_autocast_enabled()` asks about CUDA: `torch.npu.is_autocast_enabled()` does
    /// not, in any version.
    fn rename_call(&mut self, call: &'a ExprCall, site: Place, name: &str) {
        let rule = self.rules.site(site);
        match &*call.func {
            Expr::Attribute(attribute) => {
                let at = span(attribute.attr.range()).start;
                self.change(rule, at..at, "npu.", Certainty::Exact);
                self.imports.needs_torch_npu(at);
            }
            Expr::Name(_) => {
                let at = span(call.arguments.range()).start + 1;
                self.change(rule, at..at, "\"npu\"", Certainty::Exact);
            }
            _ => self.flag(rule, span(call.range()), Some(name.to_owned())),
        }
    }
}

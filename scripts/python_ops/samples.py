"""What has no samples of its own in PyTorch, with samples of ours."""

import functools

import torch
import torch.nn as nn
import torch.nn.functional as F

from python_ops.libraries import vision
from python_ops.recording import plain, written, x


def others(table, only):
    """What has no samples of its own."""
    img, seq, mask = x(2, 4, 8, 8), x(2, 5, 8), torch.ones(4, 4, dtype=torch.bool)
    t = x()

    def made(make, *inputs, train=(False, True)):
        def call(training):
            module = make()
            module.train(training)
            return functools.partial(module, *inputs)
        return [call(training) for training in train]

    rows = {
        "torch.nn.Identity": made(nn.Identity, img), "torch.nn.Flatten": made(nn.Flatten, img),
        "torch.nn.Unflatten": made(lambda: nn.Unflatten(1, (2, 2)), img),
        "torch.nn.Dropout": made(nn.Dropout, img), "torch.nn.Dropout1d": made(nn.Dropout1d, seq),
        "torch.nn.Dropout2d": made(nn.Dropout2d, img), "torch.nn.Dropout3d": made(nn.Dropout3d, x(1, 2, 3, 3, 3)),
        "torch.nn.AlphaDropout": made(nn.AlphaDropout, img),
        "torch.nn.FeatureAlphaDropout": made(nn.FeatureAlphaDropout, img),
        "torch.nn.Upsample": made(lambda: nn.Upsample(scale_factor=2), img),
        "torch.nn.UpsamplingNearest2d": made(lambda: nn.UpsamplingNearest2d(scale_factor=2), img),
        "torch.nn.UpsamplingBilinear2d": made(lambda: nn.UpsamplingBilinear2d(scale_factor=2), img),
        "torch.nn.PixelShuffle": made(lambda: nn.PixelShuffle(2), img),
        "torch.nn.PixelUnshuffle": made(lambda: nn.PixelUnshuffle(2), img),
        "torch.nn.ChannelShuffle": made(lambda: nn.ChannelShuffle(2), img),
        "torch.nn.Fold": made(lambda: nn.Fold((4, 4), (2, 2)), x(1, 4 * 4, 9)),
        "torch.nn.Unfold": made(lambda: nn.Unfold((2, 2)), img),
        "torch.nn.ZeroPad1d": made(lambda: nn.ZeroPad1d(1), seq), "torch.nn.ZeroPad2d": made(lambda: nn.ZeroPad2d(1), img),
        "torch.nn.ConstantPad2d": made(lambda: nn.ConstantPad2d(1, 0.5), img),
        "torch.nn.ReflectionPad2d": made(lambda: nn.ReflectionPad2d(1), img),
        "torch.nn.ReplicationPad2d": made(lambda: nn.ReplicationPad2d(1), img),
        "torch.nn.CircularPad2d": made(lambda: nn.CircularPad2d(1), img),
        "torch.nn.AvgPool2d": made(lambda: nn.AvgPool2d(2), img), "torch.nn.MaxUnpool2d": [],
        "torch.nn.LPPool2d": made(lambda: nn.LPPool2d(2, 2), img), "torch.nn.LPPool1d": made(lambda: nn.LPPool1d(2, 2), seq),
        "torch.nn.AdaptiveAvgPool2d": made(lambda: nn.AdaptiveAvgPool2d(1), img),
        "torch.nn.AdaptiveAvgPool1d": made(lambda: nn.AdaptiveAvgPool1d(1), seq),
        "torch.nn.AdaptiveMaxPool1d": made(lambda: nn.AdaptiveMaxPool1d(1), seq),
        "torch.nn.AdaptiveMaxPool2d": made(lambda: nn.AdaptiveMaxPool2d(1), img),
        "torch.nn.FractionalMaxPool2d": made(lambda: nn.FractionalMaxPool2d(2, output_size=4), img),
        "torch.nn.CosineSimilarity": made(nn.CosineSimilarity, t, x()),
        "torch.nn.PairwiseDistance": made(nn.PairwiseDistance, t, x()),
        "torch.nn.Softmax2d": made(nn.Softmax2d, img), "torch.nn.LogSoftmax": made(lambda: nn.LogSoftmax(1), t),
        "torch.nn.LocalResponseNorm": made(lambda: nn.LocalResponseNorm(2), img),
        "torch.nn.CrossMapLRN2d": made(lambda: nn.CrossMapLRN2d(2), img),
        "torch.nn.RMSNorm": made(lambda: nn.RMSNorm(8), seq),
        "torch.nn.GLU": made(nn.GLU, t), "torch.nn.RReLU": made(nn.RReLU, t),
        "torch.nn.SyncBatchNorm": made(lambda: nn.BatchNorm2d(4), img),
        "torch.nn.LazyLinear": made(lambda: nn.Linear(8, 4), seq),
        "torch.nn.LazyConv2d": made(lambda: nn.Conv2d(4, 4, 3), img),
        "torch.nn.LazyBatchNorm2d": made(lambda: nn.BatchNorm2d(4), img),
        "torch.nn.Transformer": made(lambda: nn.Transformer(8, 2, 1, 1, 16, batch_first=True), seq, seq),
        "torch.nn.TransformerEncoder": made(lambda: nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), 1), seq),
        "torch.nn.TransformerDecoder": made(lambda: nn.TransformerDecoder(nn.TransformerDecoderLayer(8, 2, 16, batch_first=True), 1), seq, seq),
        "torch.nn.AdaptiveLogSoftmaxWithLoss": [lambda: nn.AdaptiveLogSoftmaxWithLoss(8, 20, [5, 10])(x(6, 8), torch.arange(6)).loss],
        "torch.nn.functional.softmax": [lambda: F.softmax(t, -1)], "torch.nn.functional.log_softmax": [lambda: F.log_softmax(t, -1)],
        "torch.nn.functional.softmin": [lambda: F.softmin(t, -1)],
        "torch.nn.functional.gumbel_softmax": [lambda: F.gumbel_softmax(t), lambda: F.gumbel_softmax(t, hard=True)],
        "torch.nn.functional.fold": [lambda: F.fold(x(1, 16, 9), (4, 4), (2, 2))],
        "torch.nn.functional.affine_grid": [lambda: F.affine_grid(x(1, 2, 3), (1, 1, 4, 4))],
        "torch.nn.functional.lp_pool2d": [lambda: F.lp_pool2d(img, 2, 2)],
        "torch.nn.functional.dropout1d": [lambda: F.dropout1d(seq)],
        "torch.nn.functional.sigmoid": [lambda: F.sigmoid(t)], "torch.nn.functional.tanh": [lambda: F.tanh(t)],
        "torch.nn.functional.upsample": [lambda: F.upsample(img, scale_factor=2)],
        "torch.nn.functional.max_pool2d_with_indices": [lambda: F.max_pool2d_with_indices(img, 2)],
        "torch.nn.functional.adaptive_max_pool2d_with_indices": [lambda: F.adaptive_max_pool2d_with_indices(img, 2)],
        "torch.nn.utils.clip_grad_norm_": [lambda: clipped()], "torch.nn.utils.clip_grad_value_": [lambda: clipped(True)],
        "torch.nn.utils.get_total_norm": [lambda: nn.utils.get_total_norm([plain(), plain()])],
        "torch.nn.utils.parameters_to_vector": [lambda: nn.utils.parameters_to_vector([t, t])],
        "torch.nn.utils.weight_norm": made(lambda: nn.utils.weight_norm(nn.Linear(8, 4)), seq),
        "torch.nn.utils.parametrizations.weight_norm": made(lambda: nn.utils.parametrizations.weight_norm(nn.Linear(8, 4)), seq),
        "torch.nn.utils.spectral_norm": made(lambda: nn.utils.spectral_norm(nn.Linear(8, 4)), seq),
        "torch.nn.utils.parametrizations.spectral_norm": made(lambda: nn.utils.parametrizations.spectral_norm(nn.Linear(8, 4)), seq),
        "torch.nn.utils.parametrizations.orthogonal": made(lambda: nn.utils.parametrizations.orthogonal(nn.Linear(8, 8)), seq),
        "torch.nn.utils.rnn.pack_padded_sequence": [lambda: nn.utils.rnn.pack_padded_sequence(seq, torch.tensor([5, 3]), batch_first=True).data],
        "torch.nn.utils.rnn.pad_packed_sequence": [lambda p=nn.utils.rnn.pack_padded_sequence(seq, torch.tensor([5, 3]), batch_first=True): nn.utils.rnn.pad_packed_sequence(p)[0]],
        "torch.nn.utils.rnn.pad_sequence": [lambda: nn.utils.rnn.pad_sequence([x(3), x(2)])],
        "torch.tensor": [lambda: torch.tensor([1.0, 2.0]), lambda: torch.tensor(1)],
        "torch.as_tensor": [lambda: torch.as_tensor([1.0])], "torch.from_numpy": [],
        "torch.Tensor": [lambda: torch.Tensor([1.0])], "torch.FloatTensor": [lambda: torch.FloatTensor([1.0])],
        "torch.LongTensor": [lambda: torch.LongTensor([1])],
        "torch.stft": [lambda: torch.stft(plain(64), 16, window=torch.ones(16), return_complex=True)],
        "torch.norm": [lambda: torch.norm(t), lambda: torch.norm(t, dim=1), lambda: torch.norm(t, p=1, dim=1)],
        "torch.atleast_2d": [lambda: torch.atleast_2d(x(4))], "torch.lobpcg": [lambda: torch.lobpcg(torch.eye(12) * 2)[0]],
        "torch.rand": [lambda: torch.rand(3)], "torch.randperm": [lambda: torch.randperm(3)],
        "torch.hamming_window": [lambda: torch.hamming_window(8)], "torch.range": [lambda: torch.range(1, 3)],
        "Tensor.norm": [lambda: t.norm(), lambda: t.norm(dim=1)],
        "Tensor.split": [lambda: t.split(2), lambda: t.split([1, 3])],
        "Tensor.item": [lambda: plain(1).item()], "Tensor.tolist": [lambda: plain(2).tolist()],
        "Tensor.backward": [lambda: x().sum().backward()], "Tensor.numpy": [lambda: plain(2).numpy()],
        "Tensor.T": [lambda: t.T], "Tensor.mT": [lambda: t.mT], "Tensor.H": [lambda: t.H], "Tensor.mH": [lambda: t.mH],
        "Tensor.real": [lambda: torch.randn(2, dtype=torch.complex64).real], "Tensor.imag": [lambda: torch.randn(2, dtype=torch.complex64).imag],
        "Tensor.data": [lambda: t.data], "Tensor.type_as": [lambda: t.type_as(ints())],
        "Tensor.unflatten": [lambda: t.unflatten(0, (2, 2))], "Tensor.stft": [lambda: plain(64).stft(16, window=torch.ones(16), return_complex=True)],
        "Tensor.unique": [lambda: ints().unique(), lambda: ints().unique(return_counts=True)],
        "Tensor.new_tensor": [lambda: t.new_tensor([1.0])], "Tensor.repeat": [lambda: t.repeat(2, 1)],
    }
    for name in ("float", "double", "half", "bfloat16", "int", "long", "short", "bool", "byte", "char", "cfloat", "cdouble", "cpu"):
        rows[f"Tensor.{name}"] = [lambda name=name: getattr(ints(), name)()]
    rows["Tensor.cuda"] = rows["Tensor.npu"] = rows["Tensor.to"] = [lambda: t.to(torch.float16)]
    rows["Tensor.type"] = [lambda: t.type(torch.float16)]
    for name, function in sorted(vars(nn.init).items()):
        if name.endswith("_") and not name.startswith("_") and callable(function):
            extra = {"constant_": (1.0,), "sparse_": (0.1,)}.get(name, ())
            shape = (3, 3, 3) if name == "dirac_" else (4, 4)
            rows[f"torch.nn.init.{name}"] = [lambda f=function, extra=extra, shape=shape: f(plain(*shape), *extra)]
    for api, calls in rows.items():
        if not (only and only not in api):
            written(api, calls, table)
    for mode, shape in (("nearest", img), ("nearest-exact", img), ("bilinear", img), ("bicubic", img), ("area", img),
                        ("linear", seq), ("trilinear", x(1, 2, 3, 3, 3))):
        for api in ("torch.nn.Upsample mode@2=", "torch.nn.functional.upsample mode@3="):
            make = nn.Upsample if "nn.Upsample" in api else functools.partial(functools.partial, F.upsample)
            if "functional" in api:
                calls = [functools.partial(F.upsample, shape, scale_factor=2, mode=mode)]
            else:
                calls = [functools.partial(make(scale_factor=2, mode=mode), shape)]
            written(api + mode, calls, table, only=only)
    for mode in ("constant", "reflect", "replicate", "circular"):
        written(f"torch.nn.functional.pad mode@2={mode}", [functools.partial(F.pad, img, (1, 1, 1, 1), mode)], table, only=only)
    distributions(table, only)
    vision(table, only)


INTS = torch.tensor([1, 2, 2])


def ints():
    return INTS


def clipped(by_value=False):
    parameters = [nn.Parameter(plain()), nn.Parameter(plain())]
    for one in parameters:
        one.grad = plain()
    if by_value:
        nn.utils.clip_grad_value_(parameters, 1.0, foreach=True)
    else:
        nn.utils.clip_grad_norm_(parameters, 1.0, foreach=True)


def distributions(table, only):
    d = torch.distributions
    one = torch.tensor([0.5, 0.4])
    rows = {"Normal": lambda: d.Normal(one, one), "Categorical": lambda: d.Categorical(one), "Bernoulli": lambda: d.Bernoulli(one),
            "Uniform": lambda: d.Uniform(one * 0, one + 1), "Beta": lambda: d.Beta(one, one), "Gamma": lambda: d.Gamma(one, one),
            "Dirichlet": lambda: d.Dirichlet(one), "Exponential": lambda: d.Exponential(one), "Poisson": lambda: d.Poisson(one),
            "Laplace": lambda: d.Laplace(one, one), "MultivariateNormal": lambda: d.MultivariateNormal(torch.zeros(2), torch.eye(2)),
            "LogNormal": lambda: d.LogNormal(one, one), "Gumbel": lambda: d.Gumbel(one, one), "StudentT": lambda: d.StudentT(one)}
    for name, make in rows.items():
        # Who builds one need not draw from it, nor ask for a density.
        value = make().sample()
        calls = [make, lambda make=make: make().sample(), lambda make=make, value=value: make().log_prob(value)]
        if name == "MultivariateNormal":
            calls.append(lambda: d.MultivariateNormal(torch.zeros(2), scale_tril=torch.eye(2)))
        written(f"torch.distributions.{name}", calls, table, backward=False, only=only)

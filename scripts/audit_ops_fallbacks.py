#!/usr/bin/env python3
"""Compare the fallbacks that `audit-ops` finds in sources with those that really happen.

Mainstream models hardly fall back. So this runs programs of packages that compute what NPUs have no
kernels for: linear algebra, special functions, sorting, splines, Gaussian processes. Each is run on the
CPU with the lines that it reaches noted, and the operators that it calls from outside of any
other (profiler). The table classes these operators; the sources of the package, its whole
directory, are audited.

An alarm is an operator that the audit says falls back or fails for certain. It can be judged where one
of its places was reached: then it is right if the program really called that operator. Recall is over
the operators that were called and fall back, whether out of the package or out of torch below it.

    pip install kornia gpytorch torchaudio torch_geometric e3nn torchdiffeq torchcde torchsde pyro-ppl nflows geoopt entmax torchmetrics botorch roma zuko normflows pypose pytorch_metric_learning
    python3 scripts/audit_ops_fallbacks.py --binary target/dist/ascend-doctor [--only NAME] [--verbose]
"""
import argparse
import collections
import importlib
import json
import os
import subprocess
import sys
import tempfile
import warnings

warnings.filterwarnings("ignore")
import torch
from audit_ops_models import BAD, audit, base, recorded_once

r = torch.rand


def spd(n):
    a = r(n, n)
    return a @ a.T + n * torch.eye(n)


def kornia():
    import kornia as k
    img, pts = r(1, 3, 16, 16), r(1, 8, 2)
    eye = torch.eye(3)[None]
    yield "warp", lambda: k.geometry.warp_perspective(img, eye, (16, 16))
    yield "homography", lambda: k.geometry.find_homography_dlt(pts, pts + 0.1)
    yield "homography_iter", lambda: k.geometry.find_homography_dlt_iterated(pts, pts + 0.1, torch.ones(1, 8))
    yield "fundamental", lambda: k.geometry.epipolar.find_fundamental(pts, pts + 0.1 * r(1, 8, 2), torch.ones(1, 8))
    yield "essential", lambda: k.geometry.epipolar.decompose_essential_matrix(r(1, 3, 3))
    yield "canny", lambda: k.filters.canny(img)
    yield "median", lambda: k.filters.median_blur(img, (3, 3))
    yield "equalize", lambda: k.enhance.equalize(img)
    yield "clahe", lambda: k.enhance.equalize_clahe(img)
    yield "zca", lambda: k.enhance.zca_mean(r(8, 4))
    yield "histogram", lambda: k.enhance.image_histogram2d(img)
    yield "perspective", lambda: k.augmentation.RandomPerspective(p=1.0)(img)
    yield "affine", lambda: k.augmentation.RandomAffine(10.0, p=1.0)(img)
    yield "elastic", lambda: k.augmentation.RandomElasticTransform(p=1.0)(img)
    yield "jitter", lambda: k.augmentation.ColorJitter(0.1, 0.1, 0.1, 0.1, p=1.0)(img)
    yield "hsv", lambda: k.color.rgb_to_hsv(img)
    yield "lab", lambda: k.color.rgb_to_lab(img)
    yield "ssim", lambda: k.losses.ssim_loss(img, img, 5)
    yield "focal", lambda: k.losses.focal_loss(r(2, 3, 4, 4), torch.zeros(2, 4, 4, dtype=torch.long), 0.5)
    yield "hausdorff", lambda: k.losses.HausdorffERLoss()(r(1, 2, 8, 8), torch.zeros(1, 1, 8, 8, dtype=torch.long))
    yield "so3", lambda: k.geometry.liegroup.So3.exp(r(2, 3)).log()
    yield "quaternion", lambda: k.geometry.conversions.rotation_matrix_to_quaternion(eye)
    yield "morphology", lambda: k.morphology.dilation(img, torch.ones(3, 3))
    yield "harris", lambda: k.feature.harris_response(img)
    yield "hardnet", lambda: k.feature.HardNet(False)(r(1, 1, 32, 32))
    yield "laf", lambda: k.feature.LAFOrienter(32)(r(1, 2, 2, 3), r(1, 1, 32, 32))


def gpytorch():
    import gpytorch as g

    class Model(g.models.ExactGP):
        def __init__(self, x, y, likelihood, kernel):
            super().__init__(x, y, likelihood)
            self.mean_module, self.covar_module = g.means.ConstantMean(), kernel

        def forward(self, x):
            return g.distributions.MultivariateNormal(self.mean_module(x), self.covar_module(x))

    x, y = r(8, 2), r(8)
    for name, kernel in (("rbf", g.kernels.RBFKernel()), ("matern", g.kernels.MaternKernel(2.5)), ("periodic", g.kernels.PeriodicKernel()),
                         ("rq", g.kernels.RQKernel()), ("spectral", g.kernels.SpectralMixtureKernel(2, ard_num_dims=2))):
        def run(kernel=kernel):
            likelihood = g.likelihoods.GaussianLikelihood()
            model = Model(x, y, likelihood, g.kernels.ScaleKernel(kernel))
            loss = -g.mlls.ExactMarginalLogLikelihood(likelihood, model)(model(x), y)
            model.eval(), likelihood.eval()
            with torch.no_grad():
                likelihood(model(x[:3])).variance
            return loss
        yield name, run

    class Variational(g.models.ApproximateGP):
        def __init__(self):
            points = r(4, 2)
            strategy = g.variational.VariationalStrategy(self, points, g.variational.CholeskyVariationalDistribution(4))
            super().__init__(strategy)
            self.mean_module, self.covar_module = g.means.ZeroMean(), g.kernels.RBFKernel()

        def forward(self, x):
            return g.distributions.MultivariateNormal(self.mean_module(x), self.covar_module(x))

    for name, likelihood in (("svgp", g.likelihoods.GaussianLikelihood()), ("bernoulli", g.likelihoods.BernoulliLikelihood()),
                             ("student", g.likelihoods.StudentTLikelihood())):
        target = (y > 0.5).float() if name == "bernoulli" else y

        def run(likelihood=likelihood, target=target):
            model = Variational()
            return g.mlls.VariationalELBO(likelihood, model, 8)(model(x), target)
        yield name, run


def linear_operator():
    import linear_operator as l
    matrix = spd(6)
    op = l.to_linear_operator(matrix)
    yield "solve", lambda: op.solve(r(6, 2))
    yield "logdet", lambda: op.logdet()
    yield "cholesky", lambda: op.cholesky().to_dense()
    yield "sqrt_inv", lambda: l.sqrt_inv_matmul(op, r(6, 2))
    yield "root", lambda: op.root_decomposition().to_dense()
    yield "eigh", lambda: op.eigh()
    yield "svd", lambda: op.svd()
    yield "kron", lambda: l.operators.KroneckerProductLinearOperator(op, op).logdet()
    yield "toeplitz", lambda: l.operators.ToeplitzLinearOperator(r(6)).to_dense() @ r(6, 1)


def torchaudio():
    import torchaudio as a
    wave = r(1, 4000)
    f = a.functional
    yield "griffin", lambda: a.transforms.GriffinLim(n_fft=64, n_iter=2)(r(1, 33, 10))
    yield "resample", lambda: f.resample(wave, 16000, 8000)
    yield "mel", lambda: a.transforms.MelSpectrogram(n_fft=256, n_mels=16)(wave)
    yield "mfcc", lambda: a.transforms.MFCC(n_mfcc=8, melkwargs={"n_fft": 256, "n_mels": 16})(wave)
    yield "stretch", lambda: a.transforms.TimeStretch(n_freq=33, fixed_rate=1.2)(torch.randn(1, 33, 10, dtype=torch.cfloat))
    yield "pitch", lambda: f.detect_pitch_frequency(wave, 16000)
    yield "shift", lambda: f.pitch_shift(wave, 16000, 2, n_fft=64)
    yield "centroid", lambda: f.spectral_centroid(wave, 16000, 0, torch.hann_window(64), 64, 16, 64)
    yield "mask", lambda: a.transforms.FrequencyMasking(4)(r(1, 33, 10))
    yield "mulaw", lambda: f.mu_law_decoding(f.mu_law_encoding(wave, 256), 256)
    yield "cmn", lambda: f.sliding_window_cmn(r(20, 8))
    yield "psd", lambda: a.transforms.PSD()(torch.randn(2, 5, 8, dtype=torch.cfloat))
    yield "mvdr", lambda: a.transforms.MVDR()(torch.randn(2, 5, 8, dtype=torch.cdouble), r(5, 8), r(5, 8))
    yield "rtf", lambda: f.rtf_evd(torch.randn(5, 2, 2, dtype=torch.cfloat))
    yield "dct", lambda: f.create_dct(8, 16, "ortho")
    yield "fade", lambda: a.transforms.Fade(100, 100)(wave)
    yield "vad", lambda: f.vad(wave, 16000)
    yield "loudness", lambda: a.transforms.AmplitudeToDB()(wave.abs())
    yield "wav2letter", lambda: a.models.Wav2Letter(num_features=1, input_type="waveform")(r(1, 1, 4000))
    yield "conformer", lambda: a.models.Conformer(16, 2, 16, 1, 3)(r(1, 8, 16), torch.tensor([8]))
    yield "deepspeech", lambda: a.models.DeepSpeech(8, 16)(r(1, 1, 8, 8))
    yield "emformer", lambda: a.models.Emformer(16, 2, 16, 1, 4)(r(1, 8, 16), torch.tensor([8]))
    yield "tacotron", lambda: a.models.tacotron2.Tacotron2(n_mels=8, encoder_embedding_dim=16, encoder_kernel_size=3)


def torch_geometric():
    import torch_geometric as t
    nn = t.nn
    x, edges = r(10, 8), torch.randint(0, 10, (2, 30))
    batch = torch.zeros(10, dtype=torch.long)
    for name in ("GCNConv", "SAGEConv", "GATConv", "GATv2Conv", "GraphConv", "TransformerConv", "LEConv", "TAGConv", "SGConv", "ARMAConv",
                 "ClusterGCNConv", "FeaStConv", "HypergraphConv", "ResGatedGraphConv", "SuperGATConv", "MFConv", "GeneralConv", "FiLMConv"):
        if hasattr(nn, name):
            yield name, lambda layer=getattr(nn, name)(8, 8): layer(x, edges)
    yield "edge", lambda: nn.EdgeConv(torch.nn.Linear(16, 8))(x, edges)
    for name in ("MeanAggregation", "MaxAggregation", "SoftmaxAggregation", "MedianAggregation", "VarAggregation", "StdAggregation", "QuantileAggregation", "SortAggregation"):
        if hasattr(nn, name):
            make = {"QuantileAggregation": lambda: nn.QuantileAggregation(0.3), "SortAggregation": lambda: nn.SortAggregation(4)}.get(name, getattr(nn, name))
            yield name, lambda layer=make(): layer(x, batch)
    yield "topk", lambda: nn.TopKPooling(8)(x, edges, batch=batch)
    yield "sag", lambda: nn.SAGPooling(8)(x, edges, batch=batch)
    yield "norms", lambda: [nn.GraphNorm(8)(x, batch), nn.PairNorm()(x, batch), nn.InstanceNorm(8)(x, batch)]
    yield "schnet", lambda: nn.SchNet(hidden_channels=8, num_filters=8, num_interactions=1, num_gaussians=4, interaction_graph=lambda p, b: (edges, r(30)))(torch.ones(10, dtype=torch.long), r(10, 3), batch)
    yield "laplacian", lambda: t.utils.get_laplacian(edges, normalization="sym", num_nodes=10)
    yield "coalesce", lambda: t.utils.coalesce(edges)


def e3nn():
    from e3nn import nn, o3
    yield "harmonics", lambda: o3.spherical_harmonics([0, 1, 2, 3], r(4, 3), True)
    yield "wigner", lambda: o3.wigner_D(2, r(1), r(1), r(1))
    yield "angles", lambda: o3.matrix_to_angles(o3.rand_matrix(2))
    yield "linear", lambda: o3.Linear("4x0e+2x1o", "4x0e+1x1o")(r(2, 10))
    yield "tensor", lambda: o3.FullyConnectedTensorProduct("2x0e+1x1o", "1x0e+1x1o", "2x0e+1x1o")(r(2, 5), r(2, 4))
    yield "gate", lambda: nn.BatchNorm("2x0e+1x1o")(r(4, 5))
    yield "norm", lambda: o3.Norm("2x0e+1x1o")(r(4, 5))
    yield "axis", lambda: o3.matrix_to_axis_angle(o3.rand_matrix(2))
    yield "quaternion", lambda: o3.axis_angle_to_quaternion(r(2, 3), r(2))


def torchdiffeq():
    import torchdiffeq as t
    for method in ("dopri5", "rk4", "euler", "midpoint", "dopri8", "bosh3", "implicit_adams", "explicit_adams"):
        yield method, lambda method=method: t.odeint(lambda time, y: -y, r(3), torch.linspace(0, 1, 4), method=method)


def torchcde():
    import torchcde as t
    x = r(2, 6, 3)
    for name in ("linear_interpolation_coeffs", "natural_cubic_coeffs", "hermite_cubic_coefficients_with_backward_differences"):
        yield name, lambda name=name: getattr(t, name)(x)
    yield "spline", lambda: t.CubicSpline(t.natural_cubic_coeffs(x)).evaluate(torch.tensor(1.5))
    yield "logsig", lambda: t.CubicSpline(t.hermite_cubic_coefficients_with_backward_differences(x)).derivative(torch.tensor(1.5))


def torchsde():
    import torchsde

    class Sde(torch.nn.Module):
        noise_type, sde_type = "diagonal", "ito"

        def f(self, t, y):
            return -y

        def g(self, t, y):
            return 0.1 * y

    for method in ("euler", "milstein", "srk"):
        yield method, lambda method=method: torchsde.sdeint(Sde(), r(2, 3), torch.linspace(0, 1, 3), method=method, dt=0.1)


def pyro():
    import pyro
    import pyro.distributions as d
    import pyro.distributions.transforms as tr
    yield "svi", lambda: _svi(pyro, d)
    yield "mvn", lambda: d.MultivariateNormal(torch.zeros(3), covariance_matrix=spd(3)).log_prob(r(3))
    yield "lkj", lambda: d.LKJCholesky(3, torch.tensor(1.0)).sample()
    yield "vonmises", lambda: d.VonMises3D(r(3)).log_prob(torch.nn.functional.normalize(r(3), dim=0))
    yield "zip", lambda: d.ZeroInflatedPoisson(r(3) * 5, gate=r(3)).log_prob(torch.tensor([0.0, 1.0, 2.0]))
    yield "betabinomial", lambda: d.BetaBinomial(r(3) + 1, r(3) + 1, 5).log_prob(torch.tensor([0.0, 1.0, 2.0]))
    yield "gammapoisson", lambda: d.GammaPoisson(r(3) + 1, r(3) + 1).log_prob(torch.tensor([0.0, 1.0, 2.0]))
    yield "dirmulti", lambda: d.DirichletMultinomial(r(3) + 1, 5).log_prob(torch.tensor([1.0, 2.0, 2.0]))
    yield "stable", lambda: d.Stable(torch.tensor(1.5), torch.tensor(0.1)).sample()
    yield "planar", lambda: tr.Planar(3)(r(2, 3))
    yield "spline", lambda: tr.Spline(3)(r(2, 3))
    yield "householder", lambda: tr.Householder(3)(r(2, 3))
    yield "radial", lambda: tr.Radial(3)(r(2, 3))
    yield "matrix_exp", lambda: tr.MatrixExponential(3)(r(2, 3)) if hasattr(tr, "MatrixExponential") else tr.matrix_exponential(3)(r(2, 3))
    yield "gp", lambda: pyro.contrib.gp.models.GPRegression(r(5, 1), r(5), pyro.contrib.gp.kernels.RBF(1)).model()
    yield "hmm", lambda: d.GaussianHMM(d.MultivariateNormal(torch.zeros(2), torch.eye(2)), torch.eye(2), d.MultivariateNormal(torch.zeros(2), torch.eye(2)), torch.eye(2), d.MultivariateNormal(torch.zeros(2), torch.eye(2)), duration=4).log_prob(r(4, 2))
    yield "hpdi", lambda: pyro.ops.stats.hpdi(r(20), 0.9) if hasattr(pyro, "ops") else None
    yield "ess", lambda: importlib.import_module("pyro.ops.stats").effective_sample_size(r(2, 20))
    yield "waic", lambda: importlib.import_module("pyro.ops.stats").waic(r(20, 4))


def _svi(pyro, d):
    pyro.clear_param_store()

    def model():
        pyro.sample("x", d.Gamma(2.0, 1.0))

    def guide():
        a = pyro.param("a", torch.tensor(1.0), constraint=torch.distributions.constraints.positive)
        pyro.sample("x", d.Gamma(a, torch.tensor(1.0)))
    return pyro.infer.SVI(model, guide, pyro.optim.Adam({"lr": 0.1}), pyro.infer.Trace_ELBO()).step()


def nflows():
    from nflows import distributions, transforms as t
    x = r(4, 6)
    for name, make in (("lu", lambda: t.LULinear(6)), ("qr", lambda: t.QRLinear(6, 3)), ("svd", lambda: t.SVDLinear(6, 3)), ("naive", lambda: t.NaiveLinear(6)),
                       ("maf", lambda: t.MaskedAffineAutoregressiveTransform(6, 8)), ("pwq", lambda: t.MaskedPiecewiseQuadraticAutoregressiveTransform(features=6, hidden_features=8)),
                       ("rqs", lambda: t.MaskedPiecewiseRationalQuadraticAutoregressiveTransform(features=6, hidden_features=8, tails="linear")),
                       ("cubic", lambda: t.MaskedPiecewiseCubicAutoregressiveTransform(num_bins=4, features=6, hidden_features=8)),
                       ("householder", lambda: t.HouseholderSequence(6, 3)), ("sigmoid", lambda: t.Sigmoid()), ("actnorm", lambda: t.ActNorm(6)),
                       ("umnn", lambda: t.ReversePermutation(6))):
        yield name, lambda make=make: make()(x)
        yield name + "_inverse", lambda make=make: make().inverse(x)
    yield "normal", lambda: distributions.StandardNormal([6]).log_prob(x)


def geoopt():
    import geoopt as g
    for name, make, point in (("ball", lambda: g.PoincareBall(), lambda: 0.1 * r(4, 3)), ("lorentz", lambda: g.Lorentz(), None),
                              ("sphere", lambda: g.Sphere(), None), ("stiefel", lambda: g.Stiefel(), None), ("spd", lambda: g.SymmetricPositiveDefinite(), None),
                              ("birkhoff", lambda: g.BirkhoffPolytope(), None), ("oblique", lambda: g.Sphere(), None)):
        def run(make=make, name=name):
            m = make()
            shape = (4, 3, 3) if name in ("stiefel", "spd", "birkhoff") else (4, 3)
            x = m.random(*shape)
            v = m.proju(x, 0.1 * torch.randn(*shape))
            y = m.expmap(x, v) if name not in ("birkhoff", "stiefel") else m.retr(x, v)
            if name in ("ball", "lorentz", "sphere", "spd"):
                m.logmap(x, y)
                m.dist(x, y)
            return y
        yield name, run
    yield "adam", lambda: g.optim.RiemannianAdam([g.ManifoldParameter(0.1 * r(2, 2), manifold=g.PoincareBall())])


def entmax():
    import entmax as e
    for name in ("sparsemax", "entmax15", "entmax_bisect", "sparsemax_bisect", "budget_bisect", "normmax_bisect"):
        if hasattr(e, name):
            more = {"budget_bisect": (2,), "normmax_bisect": (2,)}.get(name, ())
            yield name, lambda name=name, more=more: getattr(e, name)(r(2, 6, requires_grad=True), *more)


def torchmetrics():
    import torchmetrics.functional as m
    p, t, q = r(20), torch.randint(0, 2, (20,)), torch.randint(0, 3, (20,))
    logits = r(20, 3).softmax(-1)
    for name, args in (("auroc", (p, t, "binary")), ("average_precision", (p, t, "binary")), ("confusion_matrix", (t, t, "binary")),
                       ("cohen_kappa", (t, t, "binary")), ("calibration_error", (p, t, "binary")), ("spearman_corrcoef", (p, r(20))),
                       ("pearson_corrcoef", (p, r(20))), ("kendall_rank_corrcoef", (p, r(20))), ("r2_score", (p, r(20))), ("explained_variance", (p, r(20))),
                       ("cosine_similarity", (r(4, 4), r(4, 4))), ("kl_divergence", (logits, logits)), ("mean_squared_log_error", (p, p)),
                       ("tweedie_deviance_score", (p, r(20) + 0.1, 1.5)), ("concordance_corrcoef", (p, r(20))), ("critical_success_index", (p, r(20), 0.5)),
                       ("symmetric_mean_absolute_percentage_error", (p, r(20))), ("structural_similarity_index_measure", (r(1, 3, 16, 16), r(1, 3, 16, 16))),
                       ("peak_signal_noise_ratio", (p, r(20))), ("total_variation", (r(1, 3, 8, 8),)), ("universal_image_quality_index", (r(1, 3, 16, 16), r(1, 3, 16, 16))),
                       ("signal_distortion_ratio", (r(1, 600), r(1, 600))), ("scale_invariant_signal_distortion_ratio", (p, r(20))),
                       ("retrieval_normalized_dcg", (p, t)), ("retrieval_average_precision", (p, t)), ("pairwise_minkowski_distance", (r(4, 4), r(4, 4))),
                       ("pairwise_cosine_similarity", (r(4, 4), r(4, 4))), ("cramers_v", (q, q)), ("theils_u", (q, q)), ("tschuprows_t", (q, q)),
                       ("pearsons_contingency_coefficient", (q, q)), ("permutation_invariant_training", (r(2, 2, 8), r(2, 2, 8), m.scale_invariant_signal_noise_ratio))):
        if hasattr(m, name):
            yield name, lambda name=name, args=args: getattr(m, name)(*args)


def botorch():
    import botorch as b
    x, y = torch.rand(6, 2, dtype=torch.float64), torch.rand(6, 1, dtype=torch.float64)
    model = b.models.SingleTaskGP(x, y)
    yield "posterior", lambda: model.posterior(x[:2]).variance
    yield "ei", lambda: b.acquisition.ExpectedImprovement(model, 0.5)(x[:2, None])
    yield "logei", lambda: b.acquisition.LogExpectedImprovement(model, 0.5)(x[:2, None])
    yield "ucb", lambda: b.acquisition.UpperConfidenceBound(model, 0.1)(x[:2, None])
    yield "qei", lambda: b.acquisition.qExpectedImprovement(model, 0.5)(x[None, :2])
    yield "hypervolume", lambda: b.utils.multi_objective.hypervolume.Hypervolume(torch.zeros(2)).compute(r(4, 2))
    yield "pareto", lambda: b.utils.multi_objective.pareto.is_non_dominated(r(6, 2))
    yield "sobol", lambda: b.utils.sampling.draw_sobol_normal_samples(2, 4)


def roma():
    import roma as m
    yield "procrustes", lambda: m.special_procrustes(r(2, 3, 3))
    yield "rigid", lambda: m.rigid_points_registration(r(2, 5, 3), r(2, 5, 3))
    yield "rotvec", lambda: m.rotmat_to_rotvec(m.random_rotmat(2))
    yield "quat", lambda: m.rotmat_to_unitquat(m.random_rotmat(2))
    yield "slerp", lambda: m.unitquat_slerp(m.random_unitquat(1), m.random_unitquat(1), torch.linspace(0, 1, 3))
    yield "gramschmidt", lambda: m.special_gramschmidt(r(2, 3, 2))
    yield "geodesic", lambda: m.rotmat_geodesic_distance(m.random_rotmat(2), m.random_rotmat(2))
    yield "euler", lambda: m.rotmat_to_euler("xyz", m.random_rotmat(2))


def zuko():
    import zuko as z
    x = r(4, 3)
    for name in ("NSF", "MAF", "NICE", "SOSPF", "NAF", "UNAF", "BPF", "GMM", "CNF", "GF", "RealNVP"):
        if hasattr(z.flows, name):
            yield name, lambda name=name: getattr(z.flows, name)(3, hidden_features=(8,))().log_prob(x) if name != "GMM" else z.flows.GMM(3)().log_prob(x)
    yield "box", lambda: z.distributions.BoxUniform(-torch.ones(3), torch.ones(3)).log_prob(x - 0.5)
    yield "normal", lambda: z.distributions.DiagNormal(torch.zeros(3), torch.ones(3)).rsample()
    yield "minimum", lambda: z.distributions.Minimum(torch.distributions.Gamma(r(3) + 1, r(3) + 1), 3).log_prob(r(3))
    yield "sort", lambda: z.distributions.Sort(torch.distributions.Normal(torch.zeros(3), 1.0), 3).sample()
    yield "bisection", lambda: z.utils.bisection(torch.cos, torch.zeros(2), 3 * torch.ones(2))
    yield "gausslegendre", lambda: z.utils.gauss_legendre(torch.sin, torch.zeros(2), torch.ones(2))


def normflows():
    import normflows as n
    x = r(4, 4)
    for name, make in (("planar", lambda: n.flows.Planar((4,))), ("radial", lambda: n.flows.Radial((4,))), ("affine", lambda: n.flows.AffineConstFlow((4,))),
                       ("lu", lambda: n.flows.LULinearPermute(4)), ("actnorm", lambda: n.flows.ActNorm((4,))),
                       ("conv", lambda: n.flows.Invertible1x1Conv(4)), ("rqs", lambda: n.flows.AutoregressiveRationalQuadraticSpline(4, 1, 8)),
                       ("circular", lambda: n.flows.CircularAutoregressiveRationalQuadraticSpline(4, 1, 8, [0])), ("residual", lambda: n.flows.Residual(n.nets.LipschitzMLP([4, 8, 4]))),
                       ("gauss", lambda: n.distributions.DiagGaussian(4)), ("mixture", lambda: n.distributions.GaussianMixture(2, 4)), ("uniform", lambda: n.distributions.Uniform(4))):
        yield name, lambda make=make, name=name: make()(r(4, 4, 2, 2) if name == "conv" else 3) if name in ("gauss", "mixture", "uniform") else make()(r(4, 4, 2, 2) if name == "conv" else x)
    yield "target", lambda: n.distributions.TwoMoons().log_prob(r(4, 2))


def pypose():
    import pypose as p
    yield "se3", lambda: p.randn_se3(2).Exp().Log()
    yield "so3", lambda: p.randn_SO3(2).matrix()
    yield "mat2", lambda: p.mat2SO3(torch.eye(3)[None])
    yield "sim3", lambda: p.randn_sim3(2).Exp().Inv()
    yield "svdtf", lambda: p.svdtf(r(5, 3), r(5, 3))
    yield "chspline", lambda: p.chspline(r(4, 3), 0.5)
    yield "epnp", lambda: p.module.EPnP(torch.eye(3))(r(8, 3) + 1, r(8, 2))
    yield "euler", lambda: p.randn_SO3(2).euler()
    yield "knn", lambda: p.knn(r(6, 3), r(4, 3), k=2)
    yield "cholesky", lambda: p.optim.solver.Cholesky()(spd(3), r(3, 1))
    yield "pinv", lambda: p.optim.solver.PINV()(r(3, 3), r(3, 1))
    yield "lstsq", lambda: p.optim.solver.LSTSQ()(r(3, 3), r(3, 1))
    yield "cg", lambda: p.optim.solver.CG()(spd(3), r(3, 1))
    yield "ekf", lambda: p.module.LTI(r(2, 2), r(2, 1), r(1, 2), r(1, 1))(r(2), r(1))


def pytorch_metric_learning():
    from pytorch_metric_learning import distances, losses, miners, reducers
    e, labels = r(8, 4), torch.arange(8) % 3
    for name in ("ArcFaceLoss", "CosFaceLoss", "ProxyNCALoss", "SoftTripleLoss", "NormalizedSoftmaxLoss", "SphereFaceLoss", "ProxyAnchorLoss"):
        yield name, lambda name=name: getattr(losses, name)(num_classes=3, embedding_size=4)(e, labels)
    for name in ("TripletMarginLoss", "ContrastiveLoss", "NTXentLoss", "CircleLoss", "MultiSimilarityLoss", "FastAPLoss", "SupConLoss", "LiftedStructureLoss",
                 "GeneralizedLiftedStructureLoss", "MarginLoss", "NCALoss", "NPairsLoss", "SignalToNoiseRatioContrastiveLoss", "TupletMarginLoss", "IntraPairVarianceLoss", "AngularLoss"):
        yield name, lambda name=name: getattr(losses, name)()(e, labels)
    for name in ("BatchHardMiner", "MultiSimilarityMiner", "TripletMarginMiner", "DistanceWeightedMiner", "HDCMiner", "UniformHistogramMiner", "PairMarginMiner"):
        yield name, lambda name=name: getattr(miners, name)()(e, labels)


def torch_distributions():
    import torch.distributions as d
    one = r(3) + 0.5
    made = {"Gamma": (one, one), "Beta": (one, one), "Dirichlet": (one,), "StudentT": (one + 2, one, one), "Poisson": (one,), "Binomial": (5, one / 2),
            "NegativeBinomial": (one, one / 2), "VonMises": (one, one), "Weibull": (one, one), "Gumbel": (one, one), "Laplace": (one, one), "HalfCauchy": (one,),
            "Cauchy": (one, one), "Chi2": (one,), "Exponential": (one,), "FisherSnedecor": (one, one + 4), "Geometric": (one / 2,), "HalfNormal": (one,), "Kumaraswamy": (one, one),
            "LogNormal": (one, one), "Pareto": (one, one), "Uniform": (one * 0, one), "Normal": (one, one), "Bernoulli": (one / 2,), "Categorical": (one,), "ContinuousBernoulli": (one / 2,),
            "InverseGamma": (one, one), "RelaxedBernoulli": (torch.tensor(0.5), one / 2), "OneHotCategorical": (one,), "MultivariateNormal": (torch.zeros(3), spd(3)),
            "LowRankMultivariateNormal": (torch.zeros(3), r(3, 2), one), "LKJCholesky": (3, 1.0), "Wishart": (torch.tensor(5.0), spd(3)), "LogisticNormal": (one, one)}
    for name, args in made.items():
        def run(name=name, args=args):
            a = getattr(d, name)(*args)
            sample = a.sample()
            a.log_prob(sample)
            for extra in (a.entropy, lambda: a.mean, lambda: a.variance, lambda: a.cdf(sample), lambda: d.kl_divergence(a, a), lambda: a.icdf(torch.tensor(0.5))):
                try:
                    extra()
                except NotImplementedError:
                    continue
        yield name, run


PACKAGES = [kornia, gpytorch, linear_operator, torchaudio, torch_geometric, e3nn, torchdiffeq, torchcde, torchsde, pyro, nflows, geoopt, entmax,
            torchmetrics, botorch, roma, zuko, normflows, pypose, pytorch_metric_learning, torch_distributions]


def reached_by(call, home):
    """The lines below a directory that a call reaches."""
    lines = set()

    def local(frame, event, _):
        if event == "line":
            lines.add((frame.f_code.co_filename, frame.f_lineno))
        return local

    def called(frame, event, _):
        if not frame.f_code.co_filename.startswith(home):
            return None
        lines.add((frame.f_code.co_filename, frame.f_lineno))
        return local

    sys.settrace(called)
    try:
        call()
    finally:
        sys.settrace(None)
    return lines


def spans(path, cache={}):
    """First and last line of each statement of a file: a place stands for all lines of its statement."""
    if path not in cache:
        import ast
        out = {}
        for node in ast.walk(ast.parse(open(path, encoding="utf-8").read())):
            if isinstance(node, ast.stmt) and not isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.If, ast.For, ast.While, ast.With, ast.Try)):
                for line in range(node.lineno, node.end_lineno + 1):
                    out[line] = range(node.lineno, node.end_lineno + 1)
        cache[path] = out
    return cache[path]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", default="target/dist/ascend-doctor")
    parser.add_argument("--torch-npu", default="2.7.1")
    parser.add_argument("--only")
    parser.add_argument("--verbose", action="store_true")
    args = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    total = collections.Counter()
    print("| package | programs | alarms reached | of these right | fell back | of these found |\n|---|---:|---:|---:|---:|---:|")
    for programs in PACKAGES:
        name = programs.__name__
        if args.only and args.only != name:
            continue
        try:
            home = os.path.dirname(importlib.import_module("torch.distributions" if name == "torch_distributions" else name).__file__)
        except ImportError as error:
            print(f"{name}: not installed: {error}", file=sys.stderr)
            continue
        rows = [row for row in audit(args.binary, ["--torch-npu", args.torch_npu], home) if row["class"] in BAD]
        alarms = {}
        for row in rows:
            places = alarms.setdefault(base(row["op"]), set())
            for place in row["places"]:
                path, line = place.rsplit(":", 1)
                places.add((path, int(line)))
        lines, called, count = set(), collections.defaultdict(set), 0
        try:
            every = list(programs())
        except Exception as error:  # noqa: BLE001
            print(f"{name}: {type(error).__name__} {str(error)[:150]}", file=sys.stderr)
            continue
        for number, call in every:
            try:
                reached = reached_by(call, home)
                for op, below in recorded_once(call).items():
                    called[op] |= below
            except Exception as error:  # noqa: BLE001 - a program of another version
                if args.verbose:
                    print(f"   {name}.{number}: {type(error).__name__} {str(error)[:120]}", file=sys.stderr)
                continue
            lines |= reached
            count += 1
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as listing:
            listing.write("\n".join(one if "::" in one else f"aten::{one}" for one in called) + "\n")
            listing.flush()
            judged = audit(args.binary, ["--torch-npu", args.torch_npu], listing.name) if called else []
        real = {base(row["op"]) for row in judged if row["class"] in BAD}

        def is_reached(place):
            path, line = place
            return any((path, one) in lines for one in spans(path).get(line, (line,)))
        hit = {op for op, places in alarms.items() if any(is_reached(place) for place in places)}
        right, found = hit & real, real & set(alarms)
        row = [count, len(hit), len(right), len(real), len(found)]
        total.update(dict(zip("abcde", row)))
        print("| " + " | ".join([name, *map(str, row)]) + " |", flush=True)
        if args.verbose:
            for op in sorted(hit - real):
                places = [place for place in alarms[op] if is_reached(place)]
                print(f"   wrong: {op} at", ", ".join(f"{path}:{line}" for path, line in sorted(places)[:4]), file=sys.stderr)
            print("   missed:", " ".join(sorted(real - found)), file=sys.stderr)
    print("| all | " + " | ".join(str(total[key]) for key in "abcde") + " |")
    if total["b"] and total["d"]:
        print(f"precision of alarms that were reached {total['c'] / total['b']:.3f}, recall {total['e'] / total['d']:.3f}")


if __name__ == "__main__":
    main()
